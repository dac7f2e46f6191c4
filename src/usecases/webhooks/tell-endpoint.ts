import { setImmediate as nextTurn } from 'node:timers/promises';
import { type EventId, newId, type WebhookId } from '../../domain/ids.js';
import { toInstant } from '../../domain/instants.js';
import { isHeldAfterRestore } from '../../store/engine/meta.js';
import { NoRoomError } from '../../store/engine/room.js';
import type { Store } from '../../store/engine/store.js';
import type { Reader } from '../../store/engine/tables.js';
import type { StoredEvent } from '../../store/records/events.js';
import { eventsTable, getFeed } from '../../store/records/events.js';
import {
  type Gap,
  getWebhook,
  putWebhook,
  removeRetry,
  retriesOf,
  type StoredRetry,
  type WebhookRecord,
} from '../../store/records/webhooks.js';
import type { EventFeed } from '../events/event-feed.js';
import type { EventViews } from '../events/event-views.js';
import { type Clock, type Logger, lapseInstant } from '../ports.js';
import { hasCome, isResting, MAX_IN_FLIGHT, mayStart, secretsAt, waitOf } from './endpoint-states.js';
import type { HookCaller, HookOutcome } from './hook-call.js';
import { dueAtOf, type Item, type Settled, sequenceOf, settle } from './settle-events.js';

/**
 * Why an endpoint is told of every event, in the order of the feed, and not held up by one that fails.
 *
 * The place of an endpoint says which events are settled, and its retries which of those are to be tried again. Events
 * are started in the order of the feed, up to eight at a time; one that is not taken becomes a retry, and the place goes
 * past it. The place never goes past an event that is under way: when the process ends, that is told again, with the same
 * id. Events that are gone before they could be told leave a gap, and the endpoint hears of it before anything else.
 */
export interface TellDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly feed: EventFeed;
  readonly views: EventViews;
  readonly caller: HookCaller;
  readonly log: Logger;
  /** Shared by all endpoints: while the disk has no room for outcomes, none is told of anything. */
  readonly pause: TellPause;
}

export interface TellPause {
  /** Nothing is started before then, by `performance.now()`. */
  untilMs: number;
}

/** What was told and cannot be written down is told again: not every moment. */
const NO_ROOM_PAUSE_MS = 30_000;

/** An endpoint is told for so long before it is the turn of another. */
const TURN_MS = 5_000;
/** Outcomes are written when so many have come, or after this time. */
const SAVE_AT = 16;
const SAVE_AFTER_MS = 200;
/** Events that are looked at in one event turn. */
const PER_TURN = 100;

/**
 * Tells an endpoint what is due, for some seconds. Calling it for one that is gone, disabled or up to date, or while a
 * restored store is held, does no harm; it must not run twice at once for the same endpoint.
 * @param shouldStop asked before each event: nothing more is started
 * @returns the milliseconds after which there is more to do; undefined when only a new event makes any
 */
export async function tellEndpoint(
  deps: TellDeps,
  id: WebhookId,
  shouldStop: () => boolean = () => false,
): Promise<number | undefined> {
  if (performance.now() < deps.pause.untilMs) return undefined;
  const run = deps.store.read(reader => {
    const webhook = getWebhook(reader, id);
    return webhook === undefined || webhook.disabled !== null || isHeldAfterRestore(reader)
      ? null
      : new EndpointRun(deps, webhook, retriesOf(reader, id), shouldStop);
  });
  if (run === null) return undefined;
  try {
    // Whoever stops the service looks at what is left when it starts again.
    if (!(await run.go())) return undefined;
  } catch (error) {
    if (!(error instanceof NoRoomError)) throw error;
    deps.pause.untilMs = performance.now() + NO_ROOM_PAUSE_MS;
    deps.log.warn(
      { webhook_id: id, pause_ms: NO_ROOM_PAUSE_MS },
      'webhooks pause: the disk has no room for what became of events; make room, and they go on by themselves',
    );
    return undefined;
  }
  return deps.store.read(reader => {
    const webhook = getWebhook(reader, id);
    return webhook === undefined ? undefined : (endpointWait(reader, webhook, deps.clock()) ?? undefined);
  });
}

/** In how many milliseconds there is something to do for an endpoint; null when only a new event makes any. */
export function endpointWait(reader: Reader, webhook: WebhookRecord, nowMs: number): number | null {
  return waitOf(webhook, getFeed(reader, webhook.accountId).next - 1, nowMs);
}

class EndpointRun {
  readonly #deps: TellDeps;
  readonly #shouldStop: () => boolean;
  readonly #endsAt = performance.now() + TURN_MS;
  #webhook: WebhookRecord;
  /** By sequence, in the order of the feed. */
  readonly #retries: Map<number, StoredRetry>;
  /** Sequence of the last event that was looked at. */
  #looked: number;
  /** Events after that, as far as they were read. */
  #ahead: readonly StoredEvent[] = [];
  /** By sequence of the event. */
  readonly #inFlight = new Map<number, Promise<void>>();
  /** Those, and those whose outcome is not written yet. */
  readonly #busy = new Set<number>();
  /** Those of them that were started for the first time: the place stays before those that have no outcome. */
  readonly #isNew = new Set<number>();
  #settled: Settled[] = [];
  #savedAt = performance.now();
  #isOver = false;
  #isCutOff = false;
  #signal: () => void = () => undefined;

  constructor(
    deps: TellDeps,
    webhook: WebhookRecord,
    retries: readonly StoredRetry[],
    shouldStop: () => boolean,
  ) {
    this.#deps = deps;
    this.#webhook = webhook;
    this.#retries = new Map(retries.map(retry => [retry.sequence, retry]));
    this.#looked = webhook.place;
    this.#shouldStop = shouldStop;
  }

  /** @returns false when calls were cut off because the service stops */
  async go(): Promise<boolean> {
    const { feed } = this.#deps;
    const unsubscribe = feed.onCommitted(this.#webhook.accountId, () => this.#signal());
    try {
      for (;;) {
        const happens = new Promise<void>(resolve => {
          this.#signal = resolve;
        });
        await this.#startSome();
        if (this.#inFlight.size === 0 && this.#settled.length === 0) break;
        if (this.#inFlight.size > 0 && this.#settled.length === 0) await happens;
        if (this.#isSaveDue()) await this.#save();
        else if (this.#inFlight.size > 0) await this.#happensSoon(happens);
      }
      if (this.#placeNow() > this.#webhook.place && !this.#isOver) await this.#save();
    } finally {
      unsubscribe();
      await Promise.allSettled(this.#inFlight.values());
    }
    return !this.#isCutOff;
  }

  /** Outcomes that have come wait for others to be written with them. */
  async #happensSoon(happens: Promise<void>): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const isTime = new Promise<void>(resolve => {
      timer = setTimeout(resolve, Math.max(0, this.#savedAt + SAVE_AFTER_MS - performance.now()));
    });
    await Promise.race([happens, isTime]);
    clearTimeout(timer);
  }

  #isSaveDue(): boolean {
    if (this.#settled.length === 0) return false;
    if (this.#inFlight.size === 0 || this.#settled.length >= SAVE_AT) return true;
    return performance.now() >= this.#savedAt + SAVE_AFTER_MS;
  }

  async #startSome(): Promise<void> {
    for (let looks = 0; this.#inFlight.size < MAX_IN_FLIGHT && !this.#mustEnd(); looks++) {
      if (looks > 0 && looks % MAX_IN_FLIGHT === 0) await nextTurn();
      const next = this.#next();
      if (next === 'end') return;
      if (next === 'gap') await this.#noteGap();
      else if (next !== 'look') this.#start(next);
    }
  }

  #mustEnd(): boolean {
    if (performance.now() < this.#deps.pause.untilMs) return true;
    if (this.#isOver || this.#shouldStop() || performance.now() >= this.#endsAt) return true;
    // Another may have changed, disabled or deleted it meanwhile.
    const { store, clock } = this.#deps;
    const { id, revision } = this.#webhook;
    const current = store.read(reader => getWebhook(reader, id));
    this.#isOver = current === undefined || current.disabled !== null || current.revision !== revision;
    if (current !== undefined) this.#webhook = current;
    return this.#isOver || isResting(this.#webhook, clock());
  }

  /** What is to be started next; `look`: events were passed over, look again; `gap`: some are missing. */
  #next(): Item | 'look' | 'gap' | 'end' {
    const { feed, clock } = this.#deps;
    const { accountId, gap } = this.#webhook;
    const nowMs = clock();
    if (gap !== null) {
      return this.#busy.size === 0 && hasCome(gap.nextAt, nowMs) ? { kind: 'gap', gap } : 'end';
    }
    for (const { sequence, nextAt } of this.#retries.values()) {
      if (this.#busy.has(sequence) || !hasCome(nextAt, nowMs)) continue;
      const [event] = feed.listAfter(accountId, sequence - 1, 1).events;
      return event?.sequence === sequence ? { kind: 'event', event } : 'gap';
    }
    const failures =
      this.#webhook.failures + this.#settled.filter(({ outcome }) => outcome.kind === 'failed').length;
    if (!mayStart({ failures }, this.#retries.size + this.#isNew.size)) return 'end';
    if (this.#ahead.length === 0) {
      const { events, first } = feed.listAfter(accountId, this.#looked, PER_TURN);
      if (this.#looked < first - 1) return 'gap';
      this.#ahead = events;
    }
    return this.#nextAhead();
  }

  #nextAhead(): Item | 'look' | 'end' {
    const at = this.#ahead.findIndex(event => this.#isWanted(event));
    const event = this.#ahead[at];
    const last = event ?? this.#ahead.at(-1);
    if (last === undefined) return 'end';
    this.#looked = last.sequence;
    this.#ahead = event === undefined ? [] : this.#ahead.slice(at + 1);
    return event === undefined ? 'look' : { kind: 'event', event };
  }

  #isWanted({ sequence, type, inboxId }: StoredEvent): boolean {
    const { types, inboxIds } = this.#webhook;
    // One that has failed already: the process ended before the place had gone past it.
    if (this.#retries.has(sequence)) return false;
    return (
      (types.length === 0 || types.includes(type)) && (inboxIds.length === 0 || inboxIds.includes(inboxId))
    );
  }

  #start(item: Item): void {
    const { caller, clock } = this.#deps;
    const sequence = sequenceOf(item);
    this.#busy.add(sequence);
    if (item.kind === 'event' && !this.#retries.has(sequence)) this.#isNew.add(sequence);
    const nowMs = clock();
    const call = caller
      .call({
        url: this.#webhook.url,
        id: item.kind === 'gap' ? item.gap.id : item.event.id,
        at: nowMs,
        secrets: secretsAt(this.#webhook, nowMs),
        body: this.#bodyOf(item),
      })
      .then(outcome => this.#end(sequence, item, outcome));
    this.#inFlight.set(sequence, call);
  }

  #bodyOf(item: Item): string {
    const { store, views } = this.#deps;
    const { accountId } = this.#webhook;
    if (item.kind === 'gap') return gapBody(item.gap);
    return store.read(reader => views.view(reader, accountId, item.event)).toString('utf8');
  }

  #end(sequence: number, item: Item, outcome: HookOutcome): void {
    if (outcome.kind === 'stopped') {
      // It is told again; until then the place stays before it.
      this.#isOver = true;
      this.#isCutOff = true;
    } else {
      this.#settled.push({ item, outcome, retry: this.#retries.get(sequence) ?? null });
    }
    this.#inFlight.delete(sequence);
    this.#signal();
  }

  /** Up to where all is settled, or has a retry, once what has come is written. */
  #placeNow(): number {
    const settled = new Set(this.#settled.map(({ item }) => sequenceOf(item)));
    const unsettled = [...this.#isNew].filter(sequence => !settled.has(sequence));
    return Math.min(this.#looked, ...unsettled.map(sequence => sequence - 1));
  }

  /** Writes what has become of events, and the place, in one unit of work. */
  async #save(): Promise<void> {
    const { store, clock, log } = this.#deps;
    const settled = this.#settled;
    const place = this.#placeNow();
    this.#settled = [];
    this.#savedAt = performance.now();
    const times = { nowMs: clock(), lapseMs: lapseInstant(clock) };
    const { id, revision } = this.#webhook;
    const saved = await store.write(writer => {
      const current = getWebhook(writer, id);
      if (current === undefined || current.revision !== revision) return null;
      return settle(
        writer,
        { ...current, place: Math.max(current.place, place) },
        this.#retries,
        settled,
        times,
      );
    }, 'settle');
    for (const { item } of settled) {
      this.#isNew.delete(sequenceOf(item));
      this.#busy.delete(sequenceOf(item));
    }
    if (saved === null) {
      this.#isOver = true;
      return;
    }
    if (saved.disabled !== null && this.#webhook.disabled === null) {
      const { reason } = saved.disabled;
      log.warn(
        { webhook_id: id, account_id: saved.accountId, host: new URL(saved.url).host, reason },
        'a webhook was disabled: its endpoint is gone, or has taken nothing for days',
      );
    }
    this.#webhook = saved;
    this.#isOver ||= saved.disabled !== null;
  }

  /** Events before the oldest that is kept can be told no more. */
  async #noteGap(): Promise<void> {
    const { store, clock } = this.#deps;
    // What is under way may still be of what is gone.
    await Promise.allSettled(this.#inFlight.values());
    if (this.#settled.length > 0) await this.#save();
    if (this.#isOver) return;
    const { id, accountId, revision } = this.#webhook;
    const nowMs = clock();
    const saved = await store.write(writer => {
      const current = getWebhook(writer, id);
      const { first } = getFeed(writer, accountId);
      if (current === undefined || current.revision !== revision) return null;
      const gone = [...this.#retries.keys()].filter(
        sequence => !writer.has(eventsTable, { accountId, sequence }),
      );
      for (const sequence of gone) {
        removeRetry(writer, id, sequence);
        this.#retries.delete(sequence);
      }
      const reached = this.#placeNow();
      const place = Math.max(reached, first - 1);
      const gap = {
        id: newId<EventId>(nowMs),
        from: Math.min(...gone, ...(reached < place ? [reached + 1] : [])),
        to: Math.max(...gone, first - 1),
        at: nowMs,
        attempts: 0,
        nextAt: nowMs,
      };
      const isGap = Number.isFinite(gap.from);
      const after = {
        ...current,
        place,
        gap: isGap ? gap : current.gap,
        open: this.#retries.size,
        dueAt: dueAtOf(this.#retries),
      };
      putWebhook(writer, after);
      return after;
    }, 'settle');
    if (saved === null) {
      this.#isOver = true;
      return;
    }
    this.#webhook = saved;
    this.#looked = Math.max(this.#looked, saved.place);
    this.#ahead = [];
  }
}

function gapBody({ id, from, to, at }: Gap): string {
  return JSON.stringify({
    id,
    sequence: to,
    type: 'feed.gap',
    created_at: toInstant(at),
    first_missing: from,
    last_missing: to,
    summary: null,
  });
}
