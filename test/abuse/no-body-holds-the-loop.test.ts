import { fork } from 'node:child_process';
import { once } from 'node:events';
import t from 'tap';
import { createAgent } from '../support/box/agents.js';
import { PosternBox } from '../support/box/postern-box.js';
import type { Stalls } from './health-watch.js';

const BODY_BYTES = 8_388_608;

/** As many of a piece as a body holds. */
const full = (head: string, piece: string, tail: string): string =>
  head + piece.repeat(Math.floor((BODY_BYTES - head.length - tail.length) / Buffer.byteLength(piece))) + tail;

function nestedRepeats(levels: number, scalar: string): string {
  let value = scalar;
  for (let level = 0; level < levels; level++) value = `{"a":${value},"a":${value}}`;
  return value;
}

const keys = (count: number): string => `{${Array.from({ length: count }, (_, n) => `"k${n}":1`).join()}}`;

const to = '"to":[{"address":"ann@remote.example"}],"subject":"s"';
const html = (key: string, piece: string, bytes: number): string =>
  `{${to},"text":"t","idempotency_key":"${key}","html":"${piece.repeat(Math.floor(bytes / piece.length))}"}`;

/** Bodies of a send, with the code of the refusal; null for one that is sent. */
const BODIES: readonly (readonly [string, string, string | null])[] = [
  ['600,000 keys', keys(600_000), 'invalid_json'],
  ['arrays four million deep', '['.repeat(BODY_BYTES / 2), 'invalid_json'],
  ['four million entries', full('{"to":[', '1,', '1]}'), 'invalid_json'],
  ['empty arrays', full('{"to":[', '[],', '[]]}'), 'invalid_json'],
  ['equal repeats', full('{', '"a":1,', '"a":1}'), 'invalid_json'],
  ['equal repeats in one another', nestedRepeats(19, '1'), 'invalid_json'],
  ['large equal repeats in one another', nestedRepeats(10, `"${'x'.repeat(6000)}"`), 'invalid_message'],
  ['a number', full('{"a":', '9', '}'), 'invalid_message'],
  ['escaped quotes', full(`{${to},"text":"`, '\\"', '"}'), null],
  ['other scripts', full(`{${to},"text":"`, '漢', '"}'), 'message_too_large'],
  ['escapes', full(`{${to},"text":"`, '\\u4e00', '"}'), 'message_too_large'],
  ['ends of a body', html('a', '</', 3_400_000), null],
  ['line ends', html('b', '\\n', 4_000_000), null],
];

/**
 * A wide bound, for machines that do other things meanwhile: each of these held the loop for seconds. The figures are
 * printed.
 */
const BOUND_MS = 1_000;

t.test('whatever a body holds, others are answered meanwhile', async t => {
  const box = PosternBox.create(t);
  await box.start();
  const agent = await createAgent(box);
  const watch = fork(new URL('./health-watch.js', import.meta.url), [`${box.httpPort}`]);
  t.teardown(() => watch.kill());
  await once(watch, 'message');
  for (const [name, body, code] of BODIES) {
    watch.send('begin');
    await once(watch, 'message');
    const answer = await agent.api.request('POST', `/v1/inboxes/${agent.inboxId}/sent`, {
      headers: { 'content-type': 'application/json' },
      body,
    });
    watch.send('end');
    const [{ answers, longestMs }] = (await once(watch, 'message')) as [Stalls];
    t.comment(
      `${name}: ${body.length} bytes, ${answers} answers, the slowest after ${longestMs.toFixed(0)} ms`,
    );
    t.equal(answer.code ?? null, code, name);
    t.ok(answers > 0 && longestMs < BOUND_MS, `${name}: others are answered`, { answers, longestMs });
  }
});
