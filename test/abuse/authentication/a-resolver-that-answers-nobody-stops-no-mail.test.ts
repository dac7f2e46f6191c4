import t from 'tap';
import { DnsClient } from '../../../src/dns/dns-client.js';
import { checkTimes } from '../../../src/workers/dns-answers.js';
import { ParsePool } from '../../../src/workers/parse-pool.js';
import { type DnsServer, startDnsServer } from '../../support/dns/dns-server.js';
import { recordingLog } from '../../support/redis/redis.js';
import { small } from '../../unit/workers/with-pool.js';

const MESSAGES = 200;

function checked(pool: ParsePool, domain: string): Promise<string | undefined> {
  const origin = { clientAddress: '192.0.2.1', helo: `mx.${domain}`, sender: `a@${domain}` };
  const source = small(`From: a@${domain}\r\nSubject: s\r\n\r\ntext\r\n`, { origin });
  return pool.parse(source).then(outcome => {
    if (outcome.status !== 'parsed') throw new Error(outcome.status);
    return outcome.prepared.authentication?.verdict;
  });
}

/** Questions that the server got about these domains, and a line with the time. */
async function wave(pool: ParsePool, dns: DnsServer, name: string): Promise<number> {
  const startedAt = performance.now();
  const verdicts = await Promise.all(
    Array.from({ length: MESSAGES }, (_, number) => checked(pool, `d${number}.${name}.example`)),
  );
  t.same([...new Set(verdicts)], ['unknown'], `${name}: parsed, and nobody knows who has written them`);
  const questions = dns.asked.filter(asked => asked.name.endsWith(`.${name}.example`)).length;
  t.comment(
    `${name}: ${MESSAGES} in ${Math.round(performance.now() - startedAt)} ms, ${questions} questions`,
  );
  return questions;
}

t.test('messages wait once, later ones do not, and an answer ends that', async t => {
  const silent = Object.fromEntries(
    ['first', 'second'].flatMap(name =>
      Array.from({ length: MESSAGES }, (_, number) => `d${number}.${name}.example`).flatMap(domain => [
        [domain, { fault: 'silent' }] as const,
        [`_dmarc.${domain}`, { fault: 'silent' }] as const,
        [`_dmarc.${name}.example`, { fault: 'silent' }] as const,
      ]),
    ),
  );
  const dns = await startDnsServer(t, {
    ...silent,
    '1.2.0.192.in-addr.arpa': { fault: 'silent' },
    'good.example': { TXT: ['v=spf1 ip4:192.0.2.1 -all'] },
    '_dmarc.good.example': { TXT: ['v=DMARC1; p=reject'] },
  });
  const client = new DnsClient({ servers: [dns.address], trustAd: false, times: checkTimes(5_000) });
  t.teardown(() => client.close());
  const pool = new ParsePool({
    workers: 1,
    timeoutMs: 30_000,
    memoryMib: 128,
    log: recordingLog(),
    load: { isBusy: false },
    checks: { dns: client, trustedSealers: [], dnsMs: 5_000 },
  });
  t.teardown(() => pool.stop());
  await pool.start();
  await wave(pool, dns, 'first');
  t.ok((await wave(pool, dns, 'second')) < MESSAGES, 'few questions are asked while nobody answers');
  // Some look-ups a second are let through.
  let verdict: string | undefined;
  for (let tries = 0; tries < 20 && verdict !== 'pass'; tries++) {
    await new Promise(resolve => setTimeout(resolve, 200));
    verdict = await checked(pool, 'good.example');
  }
  t.equal(verdict, 'pass', 'once somebody answers, mail is checked again');
});
