import type { RedisSpace } from '../queue/connection.js';
import { pendingWork, WorkLine } from '../queue/work-line.js';
import type { Store } from '../store/engine/store.js';
import { getMessage, type ReceivedRecord } from '../store/mailbox/messages.js';
import { ownerOf } from '../store/records/storage.js';
import { recheckMessage } from '../usecases/inbound/recheck-message.js';
import type { Authenticator, Clock, Logger } from '../usecases/ports.js';

interface RecheckingDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly redis: RedisSpace;
  readonly authenticator: Authenticator;
}

/** Looks at a time, each of some seconds at most when DNS does not answer. */
const AT_ONCE = 8;
/** How long a stop waits for looks in flight; they are made at the next start. */
const FINISH_MS = 3_000;

/** Finds out once more who has written mail when DNS did not answer. Accounts take turns. */
export class Rechecking {
  readonly #line: WorkLine<Pick<ReceivedRecord, 'id' | 'inboxId'>, Buffer>;
  readonly #stopping = new AbortController();

  constructor({ store, clock, log, redis, authenticator }: RecheckingDeps) {
    const isStopping = (): boolean => this.#stopping.signal.aborted;
    this.#line = new WorkLine<Pick<ReceivedRecord, 'id' | 'inboxId'>, Buffer>({
      name: 'authenticate',
      redis,
      log,
      places: { all: AT_ONCE },
      find: id => store.read(reader => getMessage(reader, id)),
      laneOf: ({ inboxId }) => ({
        way: 'all',
        owner: store.read(reader => ownerOf(reader, inboxId)) ?? inboxId,
        isAlone: false,
      }),
      closeTimeoutMs: FINISH_MS,
      listPending: pendingWork(store, 'authenticate', clock),
      handler: async id => {
        await recheckMessage({ store, clock, authenticator, isStopping }, id);
        return undefined;
      },
    });
  }

  start(): void {
    this.#line.start();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#line.close();
  }
}
