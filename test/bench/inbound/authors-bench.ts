import { signMessage } from '../../../src/mail/write/sign-message.js';
import { type TestKey, testKey } from '../../support/dkim/signing.js';
import { startDnsServer } from '../../support/dns/dns-server.js';
import type { Appliance } from '../appliance.js';
import { type Bench, type BenchContext, withAppliance } from '../bench.js';
import { SmtpSession } from '../load/smtp-session.js';
import { compare, type Report, whole } from '../measure/report.js';
import { median } from '../measure/statistics.js';

const SESSIONS = 20;
const BYTES = 4096;
const COUNT = 4000;
const DOMAIN = 'load.test';
/** Different letters, sent in turn: nothing is gained by having seen one before. */
const LETTERS = 100;
/** As long as records last: the cache is warm after the first message. */
const TTL_S = 3600;

/** What it costs to find out who has written mail, from acceptance until the last message can be read. */
export const authorsBench: Bench = {
  name: 'authors',
  title: `${BYTES / 1024} KB, ${SESSIONS} sessions, warm DNS: with who has written it, and without`,
  run: measure,
};

interface Run {
  readonly perSecond: number;
  readonly cpuMicros: number;
}

interface Kind {
  readonly name: string;
  readonly letters: readonly Buffer[];
  readonly without: Run[];
  readonly found: Run[];
}

async function measure({ isQuick, runs }: BenchContext): Promise<Report> {
  const closers: (() => Promise<void> | void)[] = [];
  try {
    const rsa = testKey('rsa-sha256', DOMAIN);
    const ed25519 = testKey('ed25519-sha256', DOMAIN);
    const dns = await startDnsServer(
      { teardown: close => void closers.push(close) },
      {
        [DOMAIN]: { TXT: ['v=spf1 ip4:127.0.0.1 -all'], ttl: TTL_S },
        [`_dmarc.${DOMAIN}`]: { TXT: ['v=DMARC1; p=reject'], ttl: TTL_S },
        [rsa.name]: { TXT: [rsa.record], ttl: TTL_S },
        [ed25519.name]: { TXT: [ed25519.record], ttl: TTL_S },
        '1.0.0.127.in-addr.arpa': { PTR: [`mx.${DOMAIN}`], ttl: TTL_S },
        [`mx.${DOMAIN}`]: { A: ['127.0.0.1'], ttl: TTL_S },
      },
    );
    const kinds = await Promise.all([
      kindOf('without a signature', []),
      kindOf('RSA-2048', [rsa]),
      kindOf('Ed25519', [ed25519]),
      kindOf('both', [rsa, ed25519]),
    ]);
    const count = isQuick ? COUNT / 5 : COUNT;
    const servers = { POSTERN_DNS_SERVERS: dns.address };
    await withAppliance(
      found =>
        withAppliance(
          async without => {
            for (let run = 0; run < runs; run++) {
              for (const kind of kinds) {
                kind.without.push(await time(without, kind.letters, count));
                kind.found.push(await time(found, kind.letters, count));
              }
            }
          },
          { ...servers, POSTERN_INBOUND_DNS_TIMEOUT_S: '0' },
        ),
      servers,
    );
    return report(kinds);
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

async function kindOf(name: string, keys: readonly TestKey[]): Promise<Kind> {
  const text = `${'The quick brown fox jumps over the lazy dog. '.repeat(3)}\r\n`;
  const letters = Array.from({ length: LETTERS }, async (_, at) => {
    const letter = `From: a@${DOMAIN}\r\nSubject: Letter ${at}\r\nMessage-ID: <${at}@${DOMAIN}>\r\n\r\n${text.repeat(Math.ceil(BYTES / text.length))}`;
    const signed = await signMessage(Buffer.from(letter), keys, { date: Date.now(), isRedated: false });
    return Buffer.concat([signed, Buffer.from('.\r\n')]);
  });
  return { name, letters: await Promise.all(letters), without: [], found: [] };
}

async function time(appliance: Appliance, letters: readonly Buffer[], count: number): Promise<Run> {
  const cpuBefore = appliance.cpuSeconds();
  const startedAt = performance.now();
  let next = 0;
  const session = async (): Promise<void> => {
    const open = await SmtpSession.open(appliance.smtpPort);
    for (let at = next++; at < count; at = next++) {
      await open.send(appliance.recipient, letters[at % letters.length] ?? Buffer.alloc(0));
    }
    await open.close();
  };
  await Promise.all(Array.from({ length: SESSIONS }, session));
  await appliance.untilAllReady();
  return {
    perSecond: (count / (performance.now() - startedAt)) * 1000,
    cpuMicros: ((appliance.cpuSeconds() - cpuBefore) / count) * 1e6,
  };
}

function report(kinds: readonly Kind[]): Report {
  const rate = (runs: readonly Run[]): number => median(runs.map(({ perSecond }) => perSecond));
  const cpu = (runs: readonly Run[]): number => median(runs.map(({ cpuMicros }) => cpuMicros));
  const share = ({ found, without }: Kind): number => rate(found) / rate(without);
  return {
    columns: ['', 'readable/s without', 'with', 'with / without', 'CPU us without', 'with'],
    rows: kinds.map(kind => [
      kind.name,
      whole(rate(kind.without)),
      whole(rate(kind.found)),
      share(kind).toFixed(2),
      whole(cpu(kind.without)),
      whole(cpu(kind.found)),
    ]),
    notes: [
      'without: inbound.dns_timeout_s = 0; each letter is from a domain with SPF and DMARC, and passes',
    ],
    comparisons: kinds.map(kind =>
      compare(
        `readable with its author found out, ${kind.name}`,
        share(kind),
        { atLeast: 0.75 },
        {
          unit: 'x',
          than: 'without',
          digits: 2,
        },
      ),
    ),
  };
}
