import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { deserialize, serialize } from 'node:v8';
import fc from 'fast-check';
import t from 'tap';
import { composeMessage, type OutgoingMessage } from '../../../../src/mail/write/compose-message.js';
import { message } from './outgoing-messages.js';

const COMPOSER = new URL('../../../../src/mail/write/compose-message.js', import.meta.url).href;

const OTHER = `
import { createHash } from 'node:crypto';
import { deserialize, serialize } from 'node:v8';
import { readFileSync } from 'node:fs';
const { composeMessage } = await import(process.argv[1]);
const digests = [];
for (const one of deserialize(readFileSync(0))) {
  digests.push(createHash('sha256').update(await composeMessage(one)).digest('hex'));
}
process.stdout.write(serialize(digests));
`;

t.test('any message is composed to the same bytes by another process, at another time', async t => {
  const seed = Date.now() % 2 ** 31;
  const messages: OutgoingMessage[] = fc.sample(message, { numRuns: 200, seed });
  const own: string[] = [];
  for (const one of messages) {
    own.push(
      createHash('sha256')
        .update(await composeMessage(one))
        .digest('hex'),
    );
  }
  const other = execFileSync(process.execPath, ['--input-type=module', '-e', OTHER, COMPOSER], {
    input: serialize(messages),
    maxBuffer: 2 ** 26,
    env: { ...process.env, TZ: 'Pacific/Auckland', LANG: 'C' },
  });
  t.same(deserialize(other), own, `seed ${seed}`);
});
