import t, { type Test } from 'tap';
import { DnsClient } from '../../../src/dns/dns-client.js';
import { ParsePool } from '../../../src/workers/parse-pool.js';
import { type DnsServer, silentZones, startDnsServer, type Zones } from '../../support/dns/dns-server.js';
import { recordingLog } from '../../support/redis/redis.js';
import { EXAMPLE_KEYS, RFC_6376, RFC_8463 } from '../../vectors/dkim-examples.js';
import { chunks, letter, small, subjectOf } from './with-pool.js';

const zones: Zones = {
  ...Object.fromEntries(
    Object.entries(EXAMPLE_KEYS).map(([name, text]) => [name, { TXT: [text], ttl: 600 }]),
  ),
  '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject'], ttl: 600 },
  'football.example.com': { TXT: ['v=spf1 ip4:192.0.2.1 -all'], ttl: 600 },
  '1.2.0.192.in-addr.arpa': { PTR: ['client1.football.example.com'], ttl: 600 },
  'client1.football.example.com': { A: ['192.0.2.1'], ttl: 600 },
};

const origin = {
  clientAddress: '192.0.2.1',
  helo: 'client1.football.example.com',
  sender: 'joe@football.example.com',
};

const toCrlf = (text: string): string => text.replaceAll('\n', '\r\n');

async function startChecking(
  t: Test,
  served: Zones,
  dnsMs = 5_000,
): Promise<{ pool: ParsePool; dns: DnsServer }> {
  const dns = await startDnsServer(t, served);
  const client = new DnsClient({ servers: [dns.address], trustAd: false });
  t.teardown(() => client.close());
  const pool = new ParsePool({
    workers: 1,
    timeoutMs: 30_000,
    memoryMib: 128,
    log: recordingLog(),
    checks: { dns: client, trustedSealers: [], dnsMs },
  });
  t.teardown(() => pool.stop());
  await pool.start();
  return { pool, dns };
}

t.test('small and large messages come back parsed, with who has written them', async t => {
  const { pool } = await startChecking(t, zones);
  const padding = `X-Padding: ${'x'.repeat(70)}\r\n`.repeat(1_000);
  for (const source of [
    small(toCrlf(RFC_8463), { origin }),
    letter(chunks(padding, toCrlf(RFC_8463).slice(0, 700), toCrlf(RFC_8463).slice(700)), { origin }),
  ]) {
    const outcome = await pool.parse(source);
    if (outcome.status !== 'parsed') throw new Error(JSON.stringify(outcome));
    t.equal(subjectOf(outcome), 'Is dinner ready?');
    t.match(outcome.prepared.authentication, {
      verdict: 'pass',
      from_domain: 'football.example.com',
      spf: { result: 'pass', domain: 'football.example.com', aligned: true },
      dkim: [{ result: 'pass' }, { result: 'pass' }],
      dmarc: { result: 'pass', policy: 'reject', aligned_by: ['spf', 'dkim'] },
      iprev: { result: 'pass', name: 'client1.football.example.com' },
    });
  }
});

t.test('without an origin nothing is asked', async t => {
  const { pool, dns } = await startChecking(t, zones);
  const outcome = await pool.parse(small(toCrlf(RFC_8463)));
  if (outcome.status !== 'parsed') throw new Error(JSON.stringify(outcome));
  t.equal(outcome.prepared.authentication, null);
  t.equal(dns.asked.length, 0);
});

t.test('a message is checked without being parsed, with the same verdict', async t => {
  const { pool } = await startChecking(t, zones);
  t.match(await pool.check(small(toCrlf(RFC_6376)), origin), { verdict: 'pass', local: false });
  const forged = toCrlf(RFC_6376).replace('lost', 'won');
  const other = { ...origin, clientAddress: '192.0.2.9' };
  t.match(await pool.check(small(forged), other), { verdict: 'fail', dmarc: { policy: 'reject' } });
});

t.test('a thread does not wait for the DNS: it goes on with other messages', async t => {
  const { pool } = await startChecking(t, { ...zones, '_dmarc.example.com': { fault: 'silent' } });
  const order: string[] = [];
  const waiting = pool.parse(small(toCrlf(RFC_6376), { origin })).then(outcome => {
    order.push('checked');
    return outcome;
  });
  for (let number = 0; number < 5; number++) await pool.parse(small(`Subject: ${number}\r\n\r\n`));
  order.push('others');
  const outcome = await waiting;
  t.same(order, ['others', 'checked']);
  if (outcome.status !== 'parsed') throw new Error(JSON.stringify(outcome));
  t.equal(subjectOf(outcome), 'Is dinner ready?');
  t.match(outcome.prepared.authentication, { verdict: 'unknown', dmarc: { result: 'temperror' } });
});

t.test('a stop while a check waits says so, and leaves nothing behind', async t => {
  const { pool } = await startChecking(t, { ...zones, '_dmarc.example.com': { fault: 'silent' } });
  const waiting = pool.parse(small(toCrlf(RFC_6376), { origin }));
  await pool.parse(small('Subject: one\r\n\r\n'));
  await pool.stop();
  t.match(await waiting, { status: 'stopped' });
  t.match(await pool.check(small(toCrlf(RFC_6376)), origin), { verdict: 'unknown' });
});

t.test(
  'of one owner only some wait for long, large messages do not, the rest are unknown at once',
  async t => {
    const silent = Array.from({ length: 10 }, (_, at) => `d${at}.silent.example`);
    const { pool } = await startChecking(t, silentZones(silent), 4_000);
    const ended: string[] = [];
    const parse = async (name: string, isLarge: boolean) => {
      const text = `From: a@${name}\r\nSubject: s\r\n\r\ntext\r\n`;
      const from = { origin: { clientAddress: '192.0.2.1', helo: name, sender: `a@${name}` } };
      const outcome = await pool.parse(
        isLarge ? letter(chunks(text), { size: 2 ** 20 + 1, ...from }) : small(text, from),
      );
      if (outcome.status !== 'parsed') throw new Error(JSON.stringify(outcome));
      t.equal(outcome.prepared.authentication?.verdict, 'unknown');
      ended.push(isLarge ? 'large' : 'small');
    };
    const [large = '', ...others] = silent;
    await Promise.all([parse(large, true), ...others.map(name => parse(name, false))]);
    t.same(ended.slice(0, 2).sort(), ['large', 'small'], 'the large one and the ninth of this owner');
  },
);
