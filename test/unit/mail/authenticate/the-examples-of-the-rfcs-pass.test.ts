import t from 'tap';
import { EXAMPLE_KEYS, RFC_6376, RFC_8463 } from '../../../vectors/dkim-examples.js';
import { check, startLookups } from './with-lookups.js';

const zones = {
  ...Object.fromEntries(Object.entries(EXAMPLE_KEYS).map(([name, text]) => [name, { TXT: [text] }])),
  '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject; sp=quarantine'] },
};

t.test('RFC 6376 appendix A: simple forms, RSA, for a subdomain', async t => {
  const lookups = await startLookups(t, zones);
  const { dkim, dmarc, verdict } = await check(RFC_6376, lookups);
  t.match(dkim, [{ domain: 'example.com', selector: 'brisbane', result: 'pass', aligned: true }]);
  t.same(dmarc, { result: 'pass', policy: 'quarantine', aligned_by: ['dkim'] });
  t.equal(verdict, 'pass');
});

t.test('RFC 8463 appendix A: relaxed forms, Ed25519 and RSA', async t => {
  const lookups = await startLookups(t, zones);
  const { dkim, verdict, reason } = await check(RFC_8463, lookups);
  t.match(dkim, [
    { algorithm: 'ed25519-sha256', selector: 'brisbane', result: 'pass', aligned: true },
    { algorithm: 'rsa-sha256', selector: 'test', result: 'pass', aligned: true },
  ]);
  t.equal(verdict, 'pass');
  t.equal(reason, 'signed by football.example.com.');
});

for (const [what, change] of [
  ['a word of the body', (text: string) => text.replace('lost', 'won')],
  ['a word of the subject', (text: string) => text.replace('dinner', 'lunch')],
  ['a second Subject', (text: string) => text.replace('To: Suzie', 'Subject: Pay now\nTo: Suzie')],
] as const) {
  t.test(`changed in ${what}, no signature passes and the policy fails`, async t => {
    const lookups = await startLookups(t, zones);
    const { dkim, verdict, dmarc } = await check(change(RFC_8463), lookups);
    t.same(
      dkim.map(({ result }) => result),
      ['fail', 'fail'],
    );
    t.match({ verdict, dmarc }, { verdict: 'fail', dmarc: { result: 'fail', policy: 'quarantine' } });
  });
}

t.test('however the bytes arrive', async t => {
  const { MessageCheck } = await import('../../../../src/mail/authenticate/message-check.js');
  const { ORIGIN } = await import('./with-lookups.js');
  const lookups = await startLookups(t, zones);
  const bytes = Buffer.from(RFC_6376.replaceAll('\n', '\r\n'));
  for (const size of [1, 2, 3, 7, 100]) {
    const one = new MessageCheck({ origin: ORIGIN, nowMs: Date.now(), trustedSealers: [] });
    for (let at = 0; at < bytes.length; at += size) one.feed(bytes.subarray(at, at + size));
    t.equal((await one.finish(lookups)).verdict, 'pass', `${size} bytes at once`);
  }
});
