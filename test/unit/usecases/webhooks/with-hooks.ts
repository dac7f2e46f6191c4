import type { Test } from 'tap';
import type { CreateWebhook, WebhookWithSecret } from '../../../../src/contract/webhooks.js';
import { type InboxId, type MessageId, newId, type WebhookId } from '../../../../src/domain/ids.js';
import { Reach } from '../../../../src/domain/networks.js';
import type { HttpHookCaller } from '../../../../src/hooks/http-hook-caller.js';
import { noteEvent } from '../../../../src/store/records/events.js';
import {
  getWebhook,
  retriesOf,
  type StoredRetry,
  type WebhookRecord,
} from '../../../../src/store/records/webhooks.js';
import { verifyStore } from '../../../../src/store/verify/verify-store.js';
import { createEvents } from '../../../../src/usecases/events/create-events.js';
import { type TellDeps, tellEndpoint } from '../../../../src/usecases/webhooks/tell-endpoint.js';
import { createWebhook, type WebhookDeps } from '../../../../src/usecases/webhooks/webhooks.js';
import { localCaller } from '../../../support/webhooks/local-caller.js';
import { type Receiver, startReceiver } from '../../../support/webhooks/receiver.js';
import { type House, silent, withHouse } from '../with-house.js';

/** An account with an inbox, and an endpoint for webhooks of it. */
export interface Hooks {
  readonly house: House;
  readonly inboxId: InboxId;
  readonly receiver: Receiver;
  readonly caller: HttpHookCaller;
  readonly deps: TellDeps;
  readonly webhooks: WebhookDeps;
  readonly make: (input?: Partial<CreateWebhook>) => Promise<WebhookWithSecret>;
  /** So many things happen, in one commit. */
  readonly happen: (count: number, inboxId?: InboxId, mostKept?: number) => Promise<void>;
  /** Tells the endpoint what is due, whatever the turns; the milliseconds until there is more. */
  readonly tell: (webhook: { readonly id: string }) => Promise<number | undefined>;
  readonly record: (webhook: { readonly id: string }) => WebhookRecord;
  readonly retries: (webhook: { readonly id: string }) => StoredRetry[];
  readonly faults: () => readonly string[];
}

export async function withHooks(t: Test): Promise<Hooks> {
  const house = await withHouse(t);
  const inboxId = await house.addInbox('agent');
  const receiver = await startReceiver(t);
  const { store, clock } = house;
  const { feed, views } = createEvents(store, 10);
  t.teardown(() => feed.stop());
  const caller = localCaller(t);
  const deps: TellDeps = { store, clock, feed, views, caller, log: silent, pause: { untilMs: 0 } };
  const urls = { allowsHttp: true, reach: new Reach(['127.0.0.1']) };
  const webhooks: WebhookDeps = { store, clock, urls, log: silent, limiter: null };
  const idOf = ({ id }: { readonly id: string }) => id as WebhookId;
  return {
    house,
    inboxId,
    receiver,
    caller,
    deps,
    webhooks,
    make: (input = {}) => createWebhook(webhooks, { accountId: house.account, url: receiver.url, ...input }),
    happen: (count, about = inboxId, mostKept = 100_000) =>
      store.write(writer => {
        for (let n = 0; n < count; n++) {
          const messageId = newId<MessageId>(clock());
          noteEvent(writer, { type: 'message.failed', inboxId: about, messageId }, clock(), mostKept);
        }
      }),
    tell: async webhook => {
      for (;;) {
        const againMs = await tellEndpoint(deps, idOf(webhook));
        if (againMs !== 0) return againMs;
      }
    },
    record: webhook => {
      const found = store.read(reader => getWebhook(reader, idOf(webhook)));
      if (found === undefined) throw new Error('there is no such webhook');
      return found;
    },
    retries: webhook => store.read(reader => retriesOf(reader, idOf(webhook))),
    faults: () => verifyStore(store).faults,
  };
}

export const sequencesOf = (
  requests: readonly { readonly json: { readonly sequence: number } }[],
): number[] => requests.map(({ json }) => json.sequence);

export const upTo = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_none, at) => first + at);
