import { setTimeout as delay } from 'node:timers/promises';
import { openDescriptors, privateMib } from '../abuse/process-facts.js';
import type { PosternBox } from '../support/box/postern-box.js';
import { isAtRest, openStore, readFacts, type StoreFacts } from '../support/box/store-facts.js';
import type { FuzzOptions, FuzzReport } from './fuzz-report.js';
import { randomFor } from './random.js';
import { type Played, playSession } from './session-player.js';
import { writeScript } from './session-script.js';

export interface SessionFuzzOptions extends FuzzOptions {
  /** A daemon that has no other clients meanwhile. */
  readonly box: PosternBox;
  /** The one inbox. */
  readonly address: string;
}

const AT_ONCE = 50;
const MAY_GROW_MIB = 128;
const SETTLE_MS = 60_000;

/**
 * Runs thousands of sessions that are almost, hardly or not at all SMTP. What must hold: the daemon survives and logs
 * no error; no session exceeds its time limits; each acceptance that was read has exactly one record, and there are no
 * other records; store, descriptors and memory return to where they were. Each session has its own client address, by
 * which its records are found.
 */
export async function fuzzSessions(options: SessionFuzzOptions): Promise<FuzzReport> {
  const { box, seed, count, report } = options;
  const failures: string[] = [];
  const { pid } = box;
  const before = { descriptors: openDescriptors(pid), mib: privateMib(pid), lines: box.lines.length };
  const known = new Set(await readStore(box).then(({ messages }) => messages.map(({ id }) => id)));
  const stopAtMs = Date.now() + options.seconds * 1000;
  const played: Played[] = [];
  let next = 0;

  const worker = async (): Promise<void> => {
    while (next < count && Date.now() < stopAtMs && !hasEnded(box)) {
      const index = next++;
      const script = writeScript(randomFor(seed, index), options.address);
      const outcome = await playSession(box.smtpPort, addressOf(index), script);
      played[index] = outcome;
      if (outcome.hasHung) failures.push(`session ${index} hangs`);
      for (const line of outcome.oddLines) failures.push(`session ${index} heard ${JSON.stringify(line)}`);
      if ((index + 1) % 1000 === 0) report(`${index + 1} sessions`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));

  if (hasEnded(box)) {
    return { tried: next, failures: [...failures, `the daemon ended:\n${box.tail()}`], figures: {} };
  }
  const facts = await settle(box, before.descriptors);
  const grownMib = privateMib(pid) - before.mib;
  const descriptors = openDescriptors(pid) - before.descriptors;
  if (!isAtRest(facts)) {
    failures.push(`not at rest: ${JSON.stringify({ ...facts.pending, uploads: facts.uploads })}`);
  }
  if (descriptors > 0) failures.push(`${descriptors} descriptors are left open`);
  if (grownMib > MAY_GROW_MIB) failures.push(`memory grew by ${Math.round(grownMib)} MiB`);
  failures.push(...facts.faults, ...compare(facts, played, known));
  for (const line of box.lines.slice(before.lines)) {
    if (line.level === 'error' || line.level === 'fatal') failures.push(`logged: ${JSON.stringify(line)}`);
  }
  const accepted = played.reduce((sum, { acceptedIds }) => sum + acceptedIds.length, 0);
  return {
    tried: next,
    failures,
    figures: { accepted, stored: facts.messages.length - known.size, grownMib },
  };
}

/** Each session gets its own address of 127.0.0.0/8. */
function addressOf(index: number): string {
  const host = 0x010001 + index;
  return `127.${(host >> 16) & 0xff}.${(host >> 8) & 0xff}.${host & 0xff}`;
}

function compare(facts: StoreFacts, played: readonly Played[], known: ReadonlySet<string>): string[] {
  const stored = new Map<string, string[]>();
  for (const { id, clientAddress } of facts.messages) {
    if (!known.has(id)) stored.set(clientAddress, [...(stored.get(clientAddress) ?? []), id]);
  }
  return played.flatMap(({ acceptedIds, hasReadAll }, index) => {
    const found = stored.get(addressOf(index)) ?? [];
    const lost = acceptedIds.filter(id => !found.includes(id)).map(id => `session ${index}: ${id} is lost`);
    const isTwice = new Set(acceptedIds).size < acceptedIds.length;
    if (isTwice) lost.push(`session ${index}: an id was given twice`);
    if (hasReadAll && found.length > acceptedIds.length) {
      lost.push(`session ${index}: ${found.length} records, ${acceptedIds.length} acceptances`);
    }
    return lost;
  });
}

function hasEnded(box: PosternBox): boolean {
  try {
    return box.pid === 0;
  } catch {
    return true;
  }
}

async function readStore(box: PosternBox): Promise<StoreFacts> {
  const store = openStore(box);
  try {
    return readFacts(store);
  } finally {
    await store.close();
  }
}

/** Waits until everything is parsed, swept and closed, but not for ever. */
async function settle(box: PosternBox, descriptors: number): Promise<StoreFacts> {
  const giveUpAtMs = Date.now() + SETTLE_MS;
  for (;;) {
    const facts = await readStore(box);
    const isDone = isAtRest(facts) && openDescriptors(box.pid) <= descriptors;
    if (isDone || Date.now() > giveUpAtMs) return facts;
    await delay(250);
  }
}
