import fc from 'fast-check';
import { dkimBody } from 'mailauth/lib/dkim/body/index.js';
import t from 'tap';
import { composeMessage } from '../../../../src/mail/write/compose-message.js';
import { hashBody } from '../../../../src/mail/write/hash-body.js';
import { signMessage } from '../../../../src/mail/write/sign-message.js';
import { testKey } from '../../../support/dkim/signing.js';
import { turnsAtMost, turnsDuring } from '../../../support/turns.js';
import { message, outgoing } from './outgoing-messages.js';

const KEYS = [testKey('rsa-sha256'), testKey('ed25519-sha256')];
const OPTIONS = { date: Date.UTC(2026, 10, 28), isRedated: false };

t.test(
  'signatures stand before it, 7-bit, in lines that are folded, the same for the same input',
  async t => {
    for (const one of fc.sample(message, 50)) {
      const content = await composeMessage(one);
      const signed = Buffer.from(await signMessage(content, KEYS, OPTIONS));
      t.ok(signed.subarray(signed.length - content.length).equals(content));
      const header = signed.subarray(0, signed.length - content.length).toString('latin1');
      t.match(header, /^(?:DKIM-Signature: [ -~]+\r\n(?: [ -~]+\r\n)+){2}$/);
      t.ok(header.split('\r\n').every(line => line.length <= 78));
      t.ok(signed.equals(await signMessage(content, KEYS, OPTIONS)));
    }
  },
);

t.test('it says what is signed: what can be faked is signed once more than it is there', async t => {
  const content = await composeMessage(
    outgoing({ replyHeaders: { inReplyTo: '<a@b>', references: '<a@b>' } }),
  );
  const signed = Buffer.from(await signMessage(content, KEYS.slice(0, 1), OPTIONS)).toString('latin1');
  const names = /; h=([^;]*);/.exec(signed.replace(/\r\n /g, ' '))?.[1]?.replace(/ /g, '').split(':');
  t.same(names, [
    ...['From', 'From', 'To', 'To', 'Cc', 'Subject', 'Subject', 'Reply-To'],
    ...['Date', 'Message-ID', 'In-Reply-To', 'References', 'MIME-Version', 'Content-Type'],
    'Content-Transfer-Encoding',
  ]);
});

t.test('without a key nothing changes', async t => {
  const content = await composeMessage(outgoing());
  t.equal(await signMessage(content, [], OPTIONS), content);
});

t.test('what is no message is not signed', async t => {
  const bad = { 'no end': 'From: a@b.example\r\n', 'no From': 'To: a@b.example\r\n\r\nx\r\n' };
  for (const [what, text] of Object.entries(bad)) {
    await t.rejects(signMessage(Buffer.from(text), KEYS, OPTIONS), /a message without/, what);
  }
  const long = Buffer.from(`From: a@b.example\r\n\r\n${'x'.repeat(60_000)}\r\n`);
  await t.rejects(signMessage(long, KEYS, OPTIONS), /a line that no message may have/);
});

const line = fc
  .array(fc.constantFrom(' ', '\t', 'a', 'b', '.', '  ', ' \t'), { maxLength: 8 })
  .map(all => all.join(''));
const body = fc.array(line, { maxLength: 12 }).map(lines => lines.map(one => `${one}\r\n`).join(''));

function hash(text: string): string {
  const work = hashBody(Buffer.from(text));
  let step = work.next();
  while (step.done !== true) step = work.next();
  return step.value;
}

function theirHash(text: string): string {
  const theirs = dkimBody('relaxed', 'sha256', false);
  theirs.update(Buffer.from(text));
  return theirs.digest('base64');
}

t.test('a body has the hash that the library gives it', async t => {
  fc.assert(
    fc.property(body, text => hash(text) === theirHash(text)),
    { numRuns: 3_000 },
  );
  const many = [' \r\n'.repeat(60_000), `${' \r\n'.repeat(60_000)}x\r\n`, 'a \t b\r\n'.repeat(30_000)];
  for (const text of many) t.equal(hash(text), theirHash(text));
});

t.test('a body whose last line has no end has the hash of one that has', async () => {
  fc.assert(fc.property(body, line, (text, last) => hash(text + last) === hash(`${text}${last}\r\n`)));
});

const MIB = 2 ** 20;
const KINDS: Readonly<Record<string, string>> = {
  'lines of text': 'a line of text\r\n',
  'empty lines': '\r\n',
  'lines of blanks': ' \r\n',
  'lines of tabs': '\ta\t \r\n',
  'lines of blanks and letters': `${'a  '.repeat(300)}\r\n`,
};

/** However much there is of a body, so much of it is worked on before others have a turn. */
const STEP_BYTES = 64 * 1024;

for (const [kind, one] of Object.entries(KINDS)) {
  t.test(`5 MiB of ${kind}: other work is done while they are signed`, async t => {
    const content = Buffer.from(`From: a@b.example\r\n\r\n${one.repeat(Math.ceil((5 * MIB) / one.length))}x`);
    const sign = () => signMessage(content, KEYS, OPTIONS);
    await signMessage(await composeMessage(outgoing()), KEYS, OPTIONS);
    const turns = await turnsAtMost(sign);
    t.ok(turns >= content.length / STEP_BYTES, `${turns} turns`);
    const { longestMs } = await turnsDuring(sign);
    t.comment(`longest turn ${longestMs.toFixed(1)} ms`);
  });
}
