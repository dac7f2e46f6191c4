import { createHash, createPublicKey, sign } from 'node:crypto';
import t, { type Test } from 'tap';
import type { Authentication, Origin } from '../../../src/domain/authentication.js';
import { type SigningKey, signMessage } from '../../../src/mail/write/sign-message.js';
import { testKey } from '../../support/dkim/signing.js';
import type { Zones } from '../../support/dns/dns-server.js';
import { check, startLookups, type TestDns } from '../../unit/mail/authenticate/with-lookups.js';

const key = testKey('rsa-sha256', 'bank.example');
const zones: Zones = {
  [key.name]: { TXT: [key.record] },
  '_dmarc.bank.example': { TXT: ['v=DMARC1; p=reject'] },
};

const LETTER = [
  'From: Boss <boss@bank.example>',
  'To: ann@example.org',
  'Subject: Pay',
  'Date: Fri, 27 Nov 2026 10:00:00 +0000',
  'Message-ID: <1@bank.example>',
];
const BODY = 'Please pay.\r\n';
const letter = (fields: readonly string[] = LETTER, body = BODY): Buffer =>
  Buffer.from(`${fields.join('\r\n')}\r\n\r\n${body}`, 'latin1');

async function signed(content: Buffer, keys: readonly SigningKey[] = [key]): Promise<Buffer> {
  return Buffer.from(await signMessage(content, keys, { date: Date.now(), isRedated: false }));
}

/** A check, and a printed line with its cost. */
async function costed(
  t: Test,
  what: string,
  message: Buffer,
  lookups: TestDns,
  origin: Partial<Origin> = {},
): Promise<Authentication> {
  // Libraries are loaded with the first message.
  await check(letter(), lookups);
  const { asked } = lookups.server;
  const before = asked.length;
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  const found = await check(message, lookups, { origin });
  const { user, system } = process.cpuUsage(cpu);
  const cpuMs = ((user + system) / 1000).toFixed(1);
  const ms = (performance.now() - startedAt).toFixed(1);
  t.comment(`${what}: ${cpuMs} ms of CPU, ${ms} ms in all, ${asked.length - before} questions`);
  return found;
}

t.test('the letter itself passes', async t => {
  const lookups = await startLookups(t, zones);
  t.match(await costed(t, 'one signature', await signed(letter()), lookups), {
    verdict: 'pass',
    reason: 'signed by bank.example.',
  });
});

t.test('of 1,000 signatures ten are looked at', async t => {
  const lookups = await startLookups(t, zones);
  const bad = `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/simple; d=bank.example; s=${key.selector};\r\n h=from; bh=AAAA; b=BBBB`;
  const found = await costed(
    t,
    '1,000 signatures',
    letter([
      ...Array<string>(1_000)
        .fill(bad)
        .map((one, n) => one.replace('h=from', `h=from:x${n}`)),
      ...LETTER,
    ]),
    lookups,
  );
  t.equal(found.verdict, 'fail');
  t.same(
    found.dkim.map(({ result }) => result),
    Array(10).fill('fail'),
  );
});

t.test('ten signatures with a body of 8 MiB cost two passes over it', async t => {
  const lookups = await startLookups(t, zones);
  const bad = ['relaxed', 'simple'].flatMap(form =>
    Array<string>(5).fill(
      `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/${form}; d=bank.example; s=s; h=from; bh=AAAA; b=BBBB`,
    ),
  );
  for (const [what, body] of [
    ['text', `${'a line of text with words '.repeat(3)}\r\n`.repeat(100_000)],
    ['one line', 'x'.repeat(8 * 2 ** 20)],
    ['empty lines', '\r\n'.repeat(4 * 2 ** 20)],
    ['blanks', ' \t'.repeat(4 * 2 ** 20)],
    ['blank lines', ' \r\n'.repeat(2.6 * 2 ** 20)],
  ] as const) {
    const found = await costed(t, `8 MiB, ${what}`, letter([...bad, ...LETTER], body), lookups);
    t.equal(found.verdict, 'fail', what);
  }
});

t.test('a header of 10 MB names nobody', async t => {
  const lookups = await startLookups(t, zones);
  for (const line of ['X-A: b', ' ', 'DKIM-Signature: v=1; a=rsa-sha256; b=', 'ARC-Seal: i=1; b=']) {
    const found = await costed(
      t,
      `10 MB of "${line}"`,
      letter([...LETTER, ...Array<string>(Math.round(10_000_000 / (line.length + 2))).fill(line)]),
      lookups,
    );
    t.match(found, { verdict: 'fail', from_domain: null });
  }
});

t.test('headers as long as are read cost little, whatever they are made of', async t => {
  const lookups = await startLookups(t, zones);
  const names = `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=bank.example; s=${key.selector}; bh=${createHash('sha256').update(BODY).digest('base64')}; b=QUFB; h=from`;
  for (const [what, fields] of [
    ['one field of folds', [`X: a${'\r\n '.repeat(80_000)}`]],
    ['fields', Array<string>(40_000).fill('X: a')],
    ['long lists of names', Array<string>(10).fill(`${names}${':x'.repeat(199)}`)],
    ['lists that are too long', Array<string>(10).fill(`${names}${':x'.repeat(9_000)}`)],
    ['sets of a chain', Array.from({ length: 50 }, (_, n) => arcSet(n + 1, 2_000)).flat()],
    ['more sets than a chain has', Array.from({ length: 500 }, (_, n) => arcSet(n + 1, 100)).flat()],
    ['tags', [`DKIM-Signature: ${Array.from({ length: 20_000 }, (_, n) => `t${n}=1`).join(';')}`]],
    ['From', [`From: ${'a@b.example, '.repeat(15_000)}`]],
    ['comments', [`From: ${'('.repeat(100_000)}`]],
  ] as const) {
    const found = await costed(t, what, letter([...fields, ...LETTER]), lookups);
    t.not(found.verdict, 'pass', what);
  }
});

function arcSet(i: number, padding: number): string[] {
  const rest = `d=bank.example; s=${key.selector}; b=QUFB`;
  return [
    `ARC-Seal: i=${i}; a=rsa-sha256; cv=${i === 1 ? 'none' : 'pass'}; ${rest}`,
    `ARC-Message-Signature: i=${i}; a=rsa-sha256; c=relaxed/relaxed; h=from; bh=QUFB; ${rest}`,
    `ARC-Authentication-Results: i=${i}; x.example; dmarc=pass; y="${'z'.repeat(padding)}"`,
  ];
}

t.test('keys that are too long, too short or too slow do not count', async t => {
  const keys = [
    ['a key of 512 bits', 'policy', rsaRecord(512)],
    ['a key of 1,016 bits', 'policy', rsaRecord(1_016)],
    ['a key of 4,104 bits', 'policy', rsaRecord(4_104)],
    ['a key of 8,192 bits', 'permerror', rsaRecord(8_192)],
    ['a key with an exponent as long as itself', 'policy', rsaRecord(2_048, 2_047)],
    ['a key of 64 kB', 'permerror', `v=DKIM1; k=rsa; p=${'A'.repeat(64_000)}`],
    ['a key that was withdrawn', 'permerror', 'v=DKIM1; k=rsa; p='],
    ['a key for other uses', 'permerror', `${key.record}; s=tlsrpt`],
    ['a key for other hashes', 'permerror', `${key.record}; h=sha1`],
    ['a key of another kind', 'permerror', key.record.replace('k=rsa', 'k=ed25519')],
    ['a key that says it is of another version', 'permerror', key.record.replace('DKIM1', 'DKIM2')],
  ] as const;
  for (const [what, result, record] of keys) {
    const lookups = await startLookups(t, { ...zones, [key.name]: { TXT: [record] } });
    const found = await costed(t, what, await signed(letter()), lookups);
    t.match(found, { verdict: 'fail', dkim: [{ result, aligned: true }] }, what);
  }
  const two = await startLookups(t, { ...zones, [key.name]: { TXT: [key.record, rsaRecord(2_048)] } });
  t.match(await check(await signed(letter()), two), { verdict: 'fail', dkim: [{ result: 'permerror' }] });
  const beside = await startLookups(t, { ...zones, [key.name]: { TXT: ['v=spf1 -all', key.record] } });
  t.match(await check(await signed(letter()), beside), { verdict: 'pass' }, 'beside records for other uses');
});

/** A record of a key that nobody has, whose numbers have so many bits. */
function rsaRecord(bits: number, exponentBits = 17): string {
  const number = (length: number): string => {
    const bytes = Buffer.alloc(Math.ceil(length / 8), 0xa5);
    bytes[0] = (1 << ((length - 1) % 8)) | 1;
    return bytes.toString('base64url');
  };
  const jwk = { kty: 'RSA', n: number(bits), e: number(exponentBits) };
  const info = createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'der' });
  return `v=DKIM1; k=rsa; p=${info.toString('base64')}`;
}

t.test('a signature of part of the body proves nothing, as SHA-1 does not', async t => {
  const lookups = await startLookups(t, zones);
  const length = BODY.length;
  for (const [what, body, tags, result] of [
    ['l of the whole body', BODY, `l=${length};`, 'pass'],
    ['l of all but what was added', `${BODY}And another one.\r\n`, `l=${length};`, 'policy'],
    ['l of more than there is', BODY, `l=${length + 1};`, 'fail'],
    ['l of nothing', BODY, 'l=0;', 'policy'],
    ['l that is no number', BODY, 'l=-1;', 'neutral'],
    ['rsa-sha1', BODY, 'a=rsa-sha1;', 'policy'],
    ['From not signed', BODY, 'h=subject;', 'neutral'],
    ['a tag twice', BODY, 'd=bank.example;', 'neutral'],
    ['another version', BODY, 'v=2;', 'neutral'],
    ['for a domain above', BODY, 'i=@example;', 'neutral'],
    ['expired', BODY, 't=1; x=2;', 'fail'],
    ['expired before it was signed', BODY, 't=3; x=2;', 'neutral'],
    ['signed next year', BODY, `t=${Math.round(Date.now() / 1000) + 365 * 86_400};`, 'neutral'],
  ] as const) {
    const found = await costed(t, what, byHand(body, tags), lookups);
    t.equal(found.dkim[0]?.result, result, what);
    t.equal(found.verdict, result === 'pass' ? 'pass' : 'fail', what);
  }
});

/** Signed over the body above and From, with tags of our choice. */
function byHand(body: string, extra: string): Buffer {
  const own = new Set(extra.split(';').map(tag => tag.trim().split('=')[0]));
  const defaults = {
    v: '1',
    a: 'rsa-sha256',
    c: 'simple/simple',
    s: key.selector,
    h: 'from',
    bh: createHash('sha256').update(BODY).digest('base64'),
  };
  const tags = Object.entries(defaults)
    .filter(([name]) => !own.has(name))
    .map(([name, value]) => `${name}=${value};`);
  const field = `DKIM-Signature: d=bank.example; ${tags.join(' ')} ${extra} b=`;
  const b = sign('sha256', Buffer.from(`${LETTER[0]}\r\n${field}`), key.privateKey).toString('base64');
  return letter([`${field}${b}`, ...LETTER], body);
}

t.test('where From names two, or can be read as two, the verdict is never "pass"', async t => {
  const lookups = await startLookups(t, zones);
  const rest = LETTER.slice(1);
  for (const from of [
    ['From: boss@bank.example', 'From: eve@evil.example'],
    ['From: eve@evil.example', 'From: boss@bank.example'],
    ['From : eve@evil.example', 'From: boss@bank.example'],
    ['From: boss@bank.example, eve@evil.example'],
    ['From: Team: boss@bank.example, eve@evil.example;'],
    ['From: Team: boss@bank.example;'],
    ['From: eve@evil.example <boss@bank.example> <eve@evil.example>'],
    ['From: boss@bank.example@evil.example'],
    ['From: <@evil.example:boss@bank.example>, <x@evil.example>'],
    ['From: boss@[192.0.2.1]'],
    ['From: boss'],
    ['From:'],
    [],
  ]) {
    const found = await check(await signedAnyway([...from, ...rest]), lookups);
    t.match(found, { verdict: 'fail', from_domain: null }, from.join(' | ') || 'none');
    t.match(found.reason, /^[ -~]{1,200}$/);
  }
});

/** Signed by the bank, as far as its From is right; with names that sign whatever stands there. */
async function signedAnyway(fields: readonly string[]): Promise<Buffer> {
  const message = letter(fields);
  return /^from:/im.test(fields.join('\n')) ? signed(message) : message;
}

t.test('SPF ends: circles, chains, many records, silence', async t => {
  const chain = Object.fromEntries(
    Array.from({ length: 30 }, (_, n) => [
      `c${n}.evil.example`,
      { TXT: [`v=spf1 include:c${n + 1}.evil.example -all`] },
    ]),
  );
  const mx = Array.from({ length: 60 }, (_, n): [number, string] => [n, `h${n}.evil.example`]);
  const lookups = await startLookups(
    t,
    {
      ...zones,
      ...chain,
      'circle.evil.example': { TXT: ['v=spf1 include:ring.evil.example -all'] },
      'ring.evil.example': { TXT: ['v=spf1 include:circle.evil.example -all'] },
      'self.evil.example': { TXT: ['v=spf1 redirect=self.evil.example'] },
      'void.evil.example': { TXT: ['v=spf1 a:v1.evil.example a:v2.evil.example a:v3.evil.example +all'] },
      'mx.evil.example': { TXT: ['v=spf1 mx +all'], MX: mx },
      'silent.evil.example': { fault: 'silent' },
      'long.evil.example': { TXT: [`v=spf1 ${'ip4:192.0.2.0/24 '.repeat(3_000)} +all`] },
      'macros.evil.example': { TXT: [`v=spf1 exists:${'%{l}'.repeat(900)}.evil.example +all`] },
      'a.evil.example': { CNAME: 'b.evil.example' },
      'b.evil.example': { CNAME: 'a.evil.example' },
    },
    300,
  );
  for (const [domain, result] of [
    ['circle', 'permerror'],
    ['self', 'permerror'],
    ['c0', 'permerror'],
    ['void', 'permerror'],
    ['mx', 'permerror'],
    ['long', 'permerror'],
    ['macros', 'permerror'],
    ['silent', 'temperror'],
    ['a', 'temperror'],
  ] as const) {
    const sender = `${'a'.repeat(60)}_@${domain}.evil.example`;
    const before = lookups.server.asked.length;
    const found = await costed(t, `SPF of ${domain}`, letter(), lookups, { sender });
    t.equal(found.spf.result, result, domain);
    t.equal(found.verdict, 'fail', domain);
    t.ok(lookups.server.asked.length - before < 60, 'a bounded number of questions');
  }
});

t.test('a signature whose key cannot be looked up is "unknown", never "pass" and never "fail"', async t => {
  for (const name of [key.name, '_dmarc.bank.example']) {
    const lookups = await startLookups(t, { ...zones, [name]: { fault: 'silent' } }, 150);
    t.match(await costed(t, `silence at ${name}`, await signed(letter()), lookups), {
      verdict: 'unknown',
      dmarc: { result: 'temperror' },
    });
  }
});
