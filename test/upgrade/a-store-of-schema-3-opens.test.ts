import { watch } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { ApiClient } from '../support/box/api-client.js';
import { PosternBox } from '../support/box/postern-box.js';
import type { SentMessage } from '../support/sending/sending.js';
import {
  askAs,
  CLOCK_STARTS_AT,
  clockEnv,
  condensed,
  factsOf,
  NO_REDIS,
  readAnswers,
  unpackStore,
} from './schema-3/frozen-past.js';

/** How often something is asked for of which there is no event. */
const POLL_MS = 50;

/** More than any sweep takes. */
const MAX_LOOKS = 100;

// A dozen daemons are started.
t.setTimeout(180_000);

const past = readAnswers();
const env = { ...clockEnv(CLOCK_STARTS_AT), ...NO_REDIS };

function apisOf(box: PosternBox): (name: string) => ApiClient {
  const apis = new Map(Object.entries(past.credentials).map(([name, key]) => [name, box.api(key)]));
  return name => apis.get(name) ?? box.api();
}

/** Every question gets the answer that it got from the program that wrote the store; newer members may stand in it. */
async function sameAnswers(t: Test, box: PosternBox): Promise<void> {
  const apiOf = apisOf(box);
  for (const { status, headers, body, ...question } of past.requests) {
    const answer = factsOf(await askAs(apiOf(question.as), question));
    t.has(
      answer,
      { status, headers: withoutLengthOfJson(headers), body },
      `${question.as}: ${question.path}`,
    );
  }
}

/** JSON, the type that goes without saying, may have become longer. */
function withoutLengthOfJson(headers: Readonly<Record<string, string>>): object {
  const { 'content-length': _length, ...rest } = headers;
  return 'content-type' in headers ? headers : rest;
}

/** The store is sound, and what the process that wrote it left of uploads and deletions is freed. */
async function soundAndSwept(t: Test, box: PosternBox): Promise<void> {
  type Counts = Record<string, unknown> & { readonly sound: boolean };
  const verify = () => box.cliJson<Counts>('verify');
  let counts = await verify();
  // The sweeper says nothing when it has come to the end.
  for (let looks = 0; counts.pending !== past.counts.pending && looks < MAX_LOOKS; looks++) {
    await delay(POLL_MS);
    counts = await verify();
  }
  t.match(counts, { sound: true, unfinished_uploads: 0, ...past.counts });
}

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

/** Resolves when the store file has been written to so often, or the daemon is ready. */
async function afterWrites(box: PosternBox, count: number): Promise<'written' | 'ready'> {
  const ready = box.hear(/^postern is ready$/);
  let left = count;
  const watcher = watch(join(box.dataDir, 'store'));
  const written = new Promise<void>(resolve => {
    watcher.on('change', (_, name) => {
      if (name === 'data.mdb' && --left === 0) resolve();
    });
  });
  box.spawn();
  const first = await Promise.race([
    written.then(() => 'written' as const),
    ready.then(() => 'ready' as const),
  ]);
  watcher.close();
  return first;
}

t.test('a start that is killed, and killed again, goes on where it was', async t => {
  const box = PosternBox.create(t, { dataDir: unpackStore(t), env });
  const kills = { written: 0, ready: 0 };
  for (const writes of [1, 1, 2, 3, 5, 8, 13]) {
    kills[await afterWrites(box, writes)] += 1;
    await box.kill();
  }
  t.ok(
    kills.written > 0,
    `killed ${kills.written} times before it was ready, ${kills.ready} times behind it`,
  );
  await box.start();
  await sameAnswers(t, box);
  await soundAndSwept(t, box);
});
