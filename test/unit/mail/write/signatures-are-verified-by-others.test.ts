import fc from 'fast-check';
import t from 'tap';
import { composeMessage } from '../../../../src/mail/write/compose-message.js';
import { signMessage } from '../../../../src/mail/write/sign-message.js';
import { needsVerifier, recordsOf, testKey, verify } from '../../../support/dkim/signing.js';
import { message, outgoing } from './outgoing-messages.js';

const KEYS = [testKey('rsa-sha256'), testKey('ed25519-sha256')];
const records = recordsOf(KEYS);
const DATE = Date.UTC(2026, 10, 28);
const sign = (content: Uint8Array, isRedated = false) =>
  signMessage(content, KEYS, { date: DATE, isRedated });
const skip = needsVerifier;
const COUNT = 200;

t.test('any message that is composed verifies in both algorithms', { skip }, async t => {
  const seed = Date.now() % 2 ** 31;
  const signed = [];
  for (const one of fc.sample(message, { numRuns: COUNT, seed })) {
    signed.push({ records, message: await sign(await composeMessage(one)) });
  }
  const results = verify(signed);
  t.equal(results.length, COUNT);
  for (const [index, result] of results.entries()) {
    t.strictSame(result, [true, true], `message ${index} of seed ${seed}`);
  }
});

t.test('a key of the longest names verifies', { skip }, async t => {
  const domain = `${'x'.repeat(60)}.${'y'.repeat(60)}.example`;
  const keys = [
    testKey('rsa-sha256', domain, 'r'.repeat(63)),
    testKey('ed25519-sha256', domain, 'e'.repeat(63)),
  ];
  const content = await signMessage(await composeMessage(outgoing()), keys, { date: DATE, isRedated: false });
  t.strictSame(verify([{ records: recordsOf(keys), message: content }]), [[true, true]]);
});

t.test('what is changed or added on the way fails', { skip }, async t => {
  const content = await composeMessage(
    outgoing({ text: 'Pay 10\n\nThanks\n', cc: [{ address: 'cc@a.example' }] }),
  );
  const signed = Buffer.from(await sign(content)).toString('latin1');
  const forged: Readonly<Record<string, string>> = {
    body: signed.replace('Pay 10', 'Pay 99'),
    'a line more': `${signed}More\r\n`,
    subject: signed.replace('Subject: Hello', 'Subject: Hallo'),
    date: signed.replace(/Date: \w+/, 'Date: Mon'),
    'a second From': `From: eve@evil.example\r\n${signed}`,
    'a second Subject': `Subject: Other\r\n${signed}`,
    'a second To': `To: eve@evil.example\r\n${signed}`,
    'a second Cc': `Cc: eve@evil.example\r\n${signed}`,
    'a Reply-To': `Reply-To: eve@evil.example\r\n${signed}`,
    'a second From behind the other': signed.replace(/\r\nTo:/, '\r\nFrom: eve@evil.example\r\nTo:'),
  };
  const kept: Readonly<Record<string, string>> = {
    'as it was': signed,
    'what lists add': `Sender: list@lists.example\r\nList-Id: <l.lists.example>\r\n${signed}`,
    'spaces and empty lines': `${signed.replace('Pay 10', 'Pay \t 10  ')}\r\n\r\n`,
  };
  const verified = (texts: Readonly<Record<string, string>>) =>
    verify(Object.values(texts).map(text => ({ records, message: Buffer.from(text, 'latin1') })));
  for (const [index, result] of verified(forged).entries()) {
    t.strictSame(result, [false, false], Object.keys(forged)[index]!);
  }
  for (const [index, result] of verified(kept).entries()) {
    t.strictSame(result, [true, true], Object.keys(kept)[index]!);
  }
  const other = recordsOf([testKey('rsa-sha256'), testKey('ed25519-sha256')]);
  t.strictSame(
    verify([{ records: other, message: Buffer.from(signed) }]),
    [[false, false]],
    'keys of others',
  );
});

t.test('where Message-ID and Date are written anew, neither is signed', { skip }, async t => {
  const composed = await composeMessage(outgoing());
  const rewritten = (bytes: Uint8Array) =>
    Buffer.from(
      Buffer.from(bytes)
        .toString('latin1')
        .replace(/Message-ID: .*\r\n/, 'Message-ID: <their-own@relay.example>\r\n')
        .replace(/Date: .*\r\n/, 'Date: Sun, 29 Nov 2026 00:00:00 +0000\r\n'),
      'latin1',
    );
  t.strictSame(verify([{ records, message: rewritten(await sign(composed, true)) }]), [[true, true]]);
  t.strictSame(verify([{ records, message: rewritten(await sign(composed)) }]), [[false, false]]);
});
