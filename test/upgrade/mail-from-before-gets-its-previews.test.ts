import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { PosternBox } from '../support/box/postern-box.js';
import { CLOCK_STARTS_AT, clockEnv, NO_REDIS, readAnswers, unpackStore } from './schema-3/frozen-past.js';

/** How often something is asked for of which there is no event. */
const POLL_MS = 50;
/** More than it takes. */
const MAX_LOOKS = 600;

t.setTimeout(120_000);

const past = readAnswers();

t.test('mail from before is looked through for its new words', async t => {
  const box = PosternBox.create(t, {
    dataDir: unpackStore(t),
    env: { ...clockEnv(CLOCK_STARTS_AT), ...NO_REDIS },
  });
  await box.start();
  const apiOf = (name: string) => box.api(past.credentials[name]);
  const lists = past.requests.filter(({ path }) => /^\/v1\/inboxes\/[a-f0-9-]+\/(messages|sent)$/.test(path));
  t.ok(lists.length > 0, 'there are lists');
  for (const { as, path } of lists) {
    type Entry = { id: string; processing_status?: string; preview: object | null };
    const waiting = async () =>
      (await apiOf(as).get(`${path}?include=preview&limit=100`))
        .json<{ messages: Entry[] }>()
        .messages.filter(
          ({ preview, processing_status = 'ready' }) => processing_status === 'ready' && preview === null,
        );
    for (let looks = 0; (await waiting()).length > 0 && looks < MAX_LOOKS; looks++) await delay(POLL_MS);
    t.strictSame(await waiting(), [], path);
  }
  t.match(await box.cliJson('verify'), { sound: true });
});
