import type { AccountEvent } from '../../../../src/contract/events.js';
import { createEvents } from '../../../../src/usecases/events/create-events.js';
import { writePlace } from '../../../../src/usecases/events/event-places.js';
import {
  type EventDeps,
  type ListEventsInput,
  listEvents,
} from '../../../../src/usecases/events/list-events.js';
import type { WaitingClient } from '../../../../src/usecases/events/waiters.js';
import { outcomeOf } from '../../../support/use-cases.js';
import type { House } from '../with-house.js';

/** A client that stays and whose key is good. */
export function staying(): WaitingClient {
  return { isAllowed: () => true, gone: new AbortController().signal };
}

export interface Page {
  readonly events: readonly AccountEvent[];
  readonly next: string;
}

export interface Events {
  readonly deps: EventDeps;
  /** The events of the account of the house. */
  readonly list: (input?: Partial<ListEventsInput>, client?: WaitingClient) => Promise<Page>;
  /** All that are kept, whatever the pages. */
  readonly all: (input?: Partial<ListEventsInput>) => Promise<readonly AccountEvent[]>;
}

export function eventsOf(house: House, max = 1_000): Events {
  const deps = createEvents(house.store, max);
  opened.push(deps);
  const list: Events['list'] = async (input = {}, client = staying()) => {
    const whole = { accountId: house.account, types: [], inboxId: null, after: null, limit: 100, waitMs: 0 };
    const { picked, place } = await listEvents(deps, { ...whole, ...input }, client);
    return {
      events: picked.map(({ json }) => JSON.parse(json.toString('utf8')) as AccountEvent),
      next: writePlace(place),
    };
  };
  return {
    deps,
    list,
    all: async (input = {}) => {
      const events: AccountEvent[] = [];
      for (let after = input.after ?? null; ; ) {
        const page: Page = await list({ ...input, after });
        events.push(...page.events);
        if (page.next === after) return events;
        after = page.next;
      }
    },
  };
}

export const typesOf = (events: readonly AccountEvent[]): string[] => events.map(({ type }) => type);

/** The code with which something is refused; null when it is not. */
export async function refusal(act: () => Promise<unknown>): Promise<string | null> {
  const outcome = await outcomeOf(act);
  return outcome.ok ? null : outcome.failure.code;
}

const opened: EventDeps[] = [];

/** Nothing looks at a store that is closed. */
export function stopEvents(): void {
  for (const { feed, waiters } of opened.splice(0)) {
    waiters.stop();
    feed.stop();
  }
}
