import { spawnSync } from 'node:child_process';
import t from 'tap';
import { signMessage } from '../../../../src/mail/write/sign-message.js';
import { needsVerifier, recordsOf, testKey } from '../../../support/dkim/signing.js';
import { check, startLookups } from './with-lookups.js';

const rsa = testKey('rsa-sha256');
const ed = testKey('ed25519-sha256');
const HEADER = [
  'Received: from a by b; Fri, 27 Nov 2026 10:00:00 +0000',
  'From:  Ann   <ann@example.org>  ',
  'To: bob@example.net,\r\n\t carol@example.net',
  'Subject: caf\u00c3\u00a0 \u00a0 and\r\n  more ',
  'X-Twice: one',
  'X-Twice: two',
  'Date: Fri, 27 Nov 2026 10:00:00 +0000',
];

/** Bodies with whatever the forms change, or must not. */
const BODIES = [
  '',
  '\r\n',
  '\r\n\r\n\r\n',
  'a',
  'a\r\n',
  'a\r\n\r\n\r\n',
  'a \t b\r\n',
  ' \t\r\na\r\n',
  'a \t\r\n \r\n\t\r\nb  c \r\n \r\n',
  '\r\n\r\na\r\n\r\nb',
  'caf\u00c3\u00a0 \u00a0 b\u00a0\r\n',
  `${'x'.repeat(70_000)} \t y\r\n${'\r\n'.repeat(40_000)}z \r\n`,
];

const letters = BODIES.map(body => Buffer.from(`${HEADER.join('\r\n')}\r\n\r\n${body}`, 'latin1'));
const zones = {
  ...Object.fromEntries(
    Object.entries(recordsOf([rsa, ed])).map(([name, record]) => [name, { TXT: [record] }]),
  ),
  '_dmarc.example.org': { TXT: ['v=DMARC1; p=reject; adkim=s'] },
};

const SIGNER = `
import base64, dkim, json, sys
for line in sys.stdin:
    asked = json.loads(line)
    message = base64.b64decode(asked["message"])
    forms = tuple(form.encode() for form in asked["forms"])
    key = asked["key"].encode()
    try:
        signature = dkim.sign(message, asked["selector"].encode(), b"example.org", key, canonicalize=forms,
            signature_algorithm=asked["algorithm"].encode(), include_headers=[b"from", b"from", b"to", b"subject", b"x-twice", b"x-none"])
    except Exception as error:
        sys.stderr.write(repr(error))
        raise
    print(json.dumps(base64.b64encode(signature).decode()))
`;

t.test('what python3-dkim signs passes, and fails when it was changed', { skip: needsVerifier }, async t => {
  const lookups = await startLookups(t, zones);
  const orders = letters.flatMap(message =>
    [rsa, ed].flatMap(key =>
      ['simple', 'relaxed'].flatMap(header =>
        ['simple', 'relaxed'].map(body => ({ message, key, forms: [header, body] })),
      ),
    ),
  );
  const input = orders.map(({ message, key, forms }) =>
    JSON.stringify({
      message: message.toString('base64'),
      forms,
      selector: key.selector,
      algorithm: key.algorithm,
      key:
        key.algorithm === 'rsa-sha256'
          ? key.privateKey.export({ type: 'pkcs1', format: 'pem' })
          : key.privateKey.export({ type: 'pkcs8', format: 'der' }).subarray(-32).toString('base64'),
    }),
  );
  const ended = spawnSync('/usr/bin/python3', ['-c', SIGNER], {
    input: input.join('\n'),
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  if (ended.status !== 0) throw new Error(ended.stderr);
  const signatures = ended.stdout.trimEnd().split('\n');
  for (const [index, { message, key, forms }] of orders.entries()) {
    const signature = Buffer.from(JSON.parse(signatures[index] ?? '""') as string, 'base64');
    const signed = Buffer.concat([signature, message]);
    const what = `${key.algorithm} ${forms.join('/')}, ${JSON.stringify(message.toString('latin1').split('\r\n\r\n').slice(1).join('|').slice(0, 20))}`;
    t.match(await check(signed, lookups), { verdict: 'pass', dkim: [{ result: 'pass' }] }, what);
    const longer = await check(Buffer.concat([signed, Buffer.from('more\r\n')]), lookups);
    t.match(longer, { verdict: 'fail', dkim: [{ result: 'fail' }] }, `${what}, made longer`);
  }
});

t.test('what we sign passes', async t => {
  const lookups = await startLookups(t, zones);
  for (const body of BODIES.filter(body => body.length < 1_000)) {
    // What leaves is 7-bit.
    const text = `${HEADER.join('\r\n')}\r\n\r\n${body}`.replace(/[^\t\r\n -~]/g, '?');
    const message = Buffer.from(text);
    const signed = await signMessage(message, [rsa, ed], { date: Date.now(), isRedated: false });
    t.match(await check(signed, lookups), {
      verdict: 'pass',
      dkim: [{ result: 'pass' }, { result: 'pass' }],
    });
  }
});
