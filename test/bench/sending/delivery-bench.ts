import { setTimeout as delay } from 'node:timers/promises';
import { startDnsServer, type ZoneEntry } from '../../support/dns/dns-server.js';
import type { Appliance, Mailbox } from '../appliance.js';
import { type Bench, type BenchContext, withDaemon, withMailbox } from '../bench.js';
import { freePort } from '../child-process.js';
import { HttpSession } from '../load/http-session.js';
import { SmtpSession } from '../load/smtp-session.js';
import { compare, type Report, skipped, whole } from '../measure/report.js';
import { median } from '../measure/statistics.js';
import { startPostfix, startSmtpSink } from '../peers/peers.js';
import type { PostfixPeer } from '../peers/postfix.js';
import type { Sink } from '../peers/sink.js';

const DOMAINS = 20;
const CLIENTS = 20;
const BYTES = 4096;
const WAITING = 10_000;
const IDLE_MS = 10_000;
/** After a load, until replies, timers and garbage of it are gone. */
const REST_MS = 3_000;
/** As long as records last: what is measured is not the DNS server of the bench. */
const TTL_S = 3600;
/** Nobody listens there. */
const DOWN = '127.0.0.250';

/** From a queue on disk to the servers of other domains. */
export const deliveryBench: Bench = {
  name: 'delivery',
  title: `${BYTES / 1024} KB to smtp-sinks of ${DOMAINS} domains, with DKIM, against Postfix's queue; ${WAITING} that wait`,
  run: measure,
};

interface Figures {
  readonly perSecond: number;
  /** From the acceptance of a message that is alone to the end of its delivery. */
  readonly aloneMs: number;
  /** Processor time a message. */
  readonly cpuMs: number;
}

interface Idle {
  readonly cpuPercent: number;
  readonly startMs: number;
  readonly emptyStartMs: number;
}

async function measure({ isQuick, runs }: BenchContext): Promise<Report> {
  const sinks = await startSinks();
  if (sinks === null) return skipped('smtp-sink is not installed');
  const closers: (() => Promise<void>)[] = sinks.map(sink => () => sink.stop());
  try {
    const port = sinks[0]?.port ?? 0;
    const dns = await startDnsServer({ teardown: close => void closers.push(close) }, zones());
    const settings = {
      POSTERN_LIMITS_SENDS: '1000000',
      POSTERN_RELAY_TRANSPORT: 'direct',
      POSTERN_RELAY_DIRECT_PORT: `${port}`,
      POSTERN_RELAY_DIRECT_ALLOW_NETWORKS: '127.0.0.0/8',
      POSTERN_RELAY_DIRECT_IPV6: 'off',
      POSTERN_DNS_SERVERS: dns.address,
    };
    const postfix = await startPostfix({ settings: { transport_maps: transportMap(port) } });
    if (typeof postfix !== 'string') closers.push(() => postfix.stop());
    const count = isQuick ? 200 : 3000;
    const ours: Figures[] = [];
    const theirs: Figures[] = [];
    await withMailbox(mailbox =>
      withDaemon(
        mailbox,
        async appliance => {
          for (let run = 0; run < runs; run++) {
            ours.push(await throughAppliance(appliance, `run-${run}`, count));
            if (typeof postfix !== 'string') theirs.push(await throughPostfix(postfix, count));
          }
        },
        settings,
      ),
    );
    const idle = await withMailbox(mailbox => waiting(mailbox, settings, isQuick ? 300 : WAITING));
    return report(ours, theirs, idle, typeof postfix === 'string' ? postfix : null);
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

const domainOf = (at: number): string => `d${at}.test`;
const addressOf = (at: number): string => `127.0.0.${at + 2}`;

/** One for each domain, each at an address of its own, as all mail servers have the same port. */
async function startSinks(): Promise<readonly Sink[] | null> {
  const port = await freePort();
  const sinks: Sink[] = [];
  for (let at = 0; at < DOMAINS; at++) {
    const sink = await startSmtpSink(addressOf(at), port);
    if (sink === null) return null;
    sinks.push(sink);
  }
  return sinks;
}

function zones(): Record<string, ZoneEntry> {
  const ttl = TTL_S;
  const all: Record<string, ZoneEntry> = {
    'down.test': { MX: [[10, 'mx.down.test']], ttl },
    'mx.down.test': { A: [DOWN], ttl },
  };
  for (let at = 0; at < DOMAINS; at++) {
    all[domainOf(at)] = { MX: [[10, `mx.${domainOf(at)}`]], ttl };
    all[`mx.${domainOf(at)}`] = { A: [addressOf(at)], ttl };
    // That there is no policy lasts as well.
    all[`_mta-sts.${domainOf(at)}`] = { TXT: ['none'], ttl };
  }
  return all;
}

function transportMap(port: number): string {
  const entries = Array.from(
    { length: DOMAINS },
    (_, at) => `{${domainOf(at)}=smtp:[${addressOf(at)}]:${port}}`,
  );
  return `inline:{${entries.join(', ')}}`;
}

const LINE = `${'The quick brown fox jumps over the lazy dog. '.repeat(3)}\n`;
const LETTER = LINE.repeat(Math.ceil(BYTES / LINE.length));
const recipients = Array.from({ length: DOMAINS }, (_, at) => `agent@${domainOf(at)}`);

/** As many letters as `count` to these in turn, with a key each; a client sends the next one when it has its answer. */
async function sendLoad(
  appliance: Appliance,
  keyPrefix: string,
  to: readonly string[],
  count: number,
): Promise<void> {
  let next = 0;
  const client = async (): Promise<void> => {
    const session = HttpSession.open(appliance.httpPort, appliance.credential);
    while (next < count) {
      const number = next++;
      await sendLetter(session, appliance.sendPath, {
        to: [{ address: to[number % to.length] }],
        subject: `Message ${number}`,
        text: LETTER,
        idempotency_key: `${keyPrefix}-${number}`,
      });
    }
    session.close();
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
}

async function sendLetter(session: HttpSession, path: string, letter: object): Promise<void> {
  const { status, body } = await session.post(path, JSON.stringify(letter));
  if (status === 201 && body.includes('"status":"accepted"')) return;
  throw new Error(`an answer that was not expected: ${status} ${body}`);
}

async function throughAppliance(appliance: Appliance, keyPrefix: string, count: number): Promise<Figures> {
  const cpuBefore = appliance.cpuSeconds();
  const startedAt = performance.now();
  await sendLoad(appliance, keyPrefix, recipients, count);
  while (!appliance.isAllDelivered()) await delay(5);
  const perSecond = (count / (performance.now() - startedAt)) * 1000;
  const cpuMs = ((appliance.cpuSeconds() - cpuBefore) * 1000) / count;
  const alone: number[] = [];
  const session = HttpSession.open(appliance.httpPort, appliance.credential);
  for (const recipient of recipients) {
    await sendLetter(session, appliance.sendPath, {
      to: [{ address: recipient }],
      subject: 'Alone',
      text: LETTER,
    });
    const acceptedAt = performance.now();
    while (!appliance.isAllDelivered()) await delay(1);
    alone.push(performance.now() - acceptedAt);
  }
  session.close();
  return { perSecond, cpuMs, aloneMs: median(alone) };
}

async function throughPostfix(postfix: PostfixPeer, count: number): Promise<Figures> {
  const text = LETTER.replaceAll('\n', '\r\n');
  const wire = Buffer.from(`From: a@load.test\r\nSubject: Load\r\n\r\n${text}.\r\n`);
  const cpuBefore = postfix.cpuSeconds();
  const startedAt = performance.now();
  let next = 0;
  const session = async (): Promise<void> => {
    const open = await SmtpSession.open(postfix.port);
    while (next < count) await open.send(recipients[next++ % DOMAINS] ?? '', wire);
    await open.close();
  };
  await Promise.all(Array.from({ length: CLIENTS }, session));
  await postfix.untilIdle();
  const perSecond = (count / (performance.now() - startedAt)) * 1000;
  const cpuMs = ((postfix.cpuSeconds() - cpuBefore) * 1000) / count;
  const alone: number[] = [];
  for (const recipient of recipients) {
    const open = await SmtpSession.open(postfix.port);
    await open.send(recipient, wire);
    const acceptedAt = performance.now();
    while (postfix.isBusy()) await delay(1);
    alone.push(performance.now() - acceptedAt);
    await open.close();
  }
  return { perSecond, cpuMs, aloneMs: median(alone) };
}

/** What messages cost that wait for a domain whose server is down. */
async function waiting(
  mailbox: Mailbox,
  settings: Readonly<Record<string, string>>,
  count: number,
): Promise<Idle> {
  const emptyStartMs = await withDaemon(mailbox, async ({ startMs }) => startMs, settings);
  const cpuPercent = await withDaemon(
    mailbox,
    async appliance => {
      await sendLoad(appliance, 'down', ['agent@down.test'], count);
      while (appliance.hasDueDeliveries()) await delay(50);
      await delay(REST_MS);
      const before = appliance.cpuSeconds();
      await delay(IDLE_MS);
      return ((appliance.cpuSeconds() - before) / (IDLE_MS / 1000)) * 100;
    },
    settings,
  );
  const startMs = await withDaemon(mailbox, async appliance => appliance.startMs, settings);
  return { cpuPercent, startMs, emptyStartMs };
}

function report(
  ours: readonly Figures[],
  theirs: readonly Figures[],
  idle: Idle,
  obstacle: string | null,
): Report {
  const of = (figures: readonly Figures[], pick: (one: Figures) => number): number =>
    median(figures.map(pick));
  const row = (name: string, figures: readonly Figures[]): string[] => [
    name,
    whole(of(figures, one => one.perSecond)),
    of(figures, one => one.aloneMs).toFixed(1),
    of(figures, one => one.cpuMs).toFixed(2),
  ];
  const isThere = theirs.length > 0;
  const ratio = isThere ? of(ours, one => one.perSecond) / of(theirs, one => one.perSecond) : null;
  return {
    columns: ['', 'messages/s', 'alone ms', 'CPU ms'],
    rows: [row('Postern', ours), ...(isThere ? [row('Postfix', theirs)] : [])],
    notes: [
      'messages/s: from the first submission to the last delivery; over the API with keys, or over SMTP',
      'alone ms: from the acceptance of a single message to the end of its delivery',
      'CPU ms: a message; of daemon and Redis, composing and two DKIM signatures included, or of all of Postfix',
      `for a domain that is down: ${idle.cpuPercent.toFixed(1)} % of a processor while they wait; start ${whole(idle.startMs)} ms, of an empty box ${whole(idle.emptyStartMs)} ms`,
      ...(obstacle === null ? [] : [obstacle]),
    ],
    comparisons: [
      compare('direct delivery', ratio, { atLeast: 1 }, { unit: 'x', than: 'Postfix', digits: 2 }),
      compare('CPU while mail waits', idle.cpuPercent, { atMost: 1 }, { unit: ' %', digits: 1 }),
      compare('start with mail that waits', idle.startMs, { atMost: 1000 }, { unit: ' ms', digits: 0 }),
    ],
  };
}
