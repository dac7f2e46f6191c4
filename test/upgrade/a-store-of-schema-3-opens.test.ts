import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { PosternBox } from '../support/box/postern-box.js';
import type { SentMessage } from '../support/sending/sending.js';
import { CLOCK_STARTS_AT, clockEnv, condensed, NO_REDIS, unpackStore } from './schema-3/frozen-past.js';
import { apisOf, POLL_MS, past, sameAnswers, soundAndSwept } from './schema-3/serve-past.js';

const env = { ...clockEnv(CLOCK_STARTS_AT), ...NO_REDIS };

t.test('every client is answered as before, and nothing lies about', async t => {
  const box = PosternBox.create(t, { dataDir: unpackStore(t), env });
  await box.start();
  await sameAnswers(t, box);
  for (const { args, document } of past.commands) {
    t.has(condensed(await box.cliJson(...args)), document, `postern ${args.join(' ')}`);
  }
  t.strictSame((await box.cliJson<{ held: unknown }>('queue', 'status')).held, past.later.held);
  await soundAndSwept(t, box);
  t.same(await box.stop(), { code: 0, signal: null });
});

t.test('what waited is done', async t => {
  const box = PosternBox.create(t, { dataDir: unpackStore(t), env: clockEnv(CLOCK_STARTS_AT) });
  await box.start();
  const apiOf = apisOf(box);
  const { parsed, send, claim } = past.later;
  for (const { as, id, content } of parsed) {
    t.has(condensed(await apiOf(as).content(id)), content as object, `message ${id} is parsed`);
  }

  const sent = () => apiOf(send.as).get(`/v1/sent/${send.id}`);
  type Detail = SentMessage & { submission: { attachments: { content: string }[] } };
  let detail = (await sent()).json<Detail>();
  while (detail.status === 'unknown') {
    await delay(POLL_MS);
    detail = (await sent()).json<Detail>();
  }
  t.match(detail, { status: 'accepted', error_code: null }, 'the send has started');
  const [arrived] = (await apiOf(send.to).page(send.inboxId, '?limit=1')).messages;
  const content = await apiOf(send.to).content(arrived!.id);
  t.equal(content.message_id, detail.provider_message_id);
  const file = await apiOf(send.to).attachment(arrived!.id, content.attachments[0]!);
  t.ok(file.equals(Buffer.from(detail.submission.attachments[0]!.content, 'base64')), 'and came whole');

  const claimed = await box.api().post('/v1/claims', { phrase: claim.phrase });
  t.equal(claimed.status, 201, 'a phrase from before is good');
  const newcomer = box.api(claimed.json<{ credential: string }>().credential);
  t.strictSame((await newcomer.get('/v1/inboxes')).json<{ inboxes: [] }>().inboxes, []);
  t.match(await box.cliJson('verify'), { sound: true, unfinished_uploads: 0 });
});
