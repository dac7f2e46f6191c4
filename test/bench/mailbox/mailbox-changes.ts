import type { MessageId } from '../../../src/domain/ids.js';
import { scanSummaries } from '../../../src/store/mailbox/folders.js';
import { changeLabels } from '../../../src/usecases/mailbox/change-messages.js';
import { median } from '../measure/statistics.js';
import { TOPICS } from './mailbox-generator.js';
import type { Place } from './mailbox-queries.js';

const IN_FLIGHT = 1_000;
const ROUNDS = 5;
const CHANGES_PER_ROUND = 20_000;

/** Durable changes per second; each adds or removes one label of a message anywhere in the inbox. */
export async function measureLabelChanges(place: Place): Promise<number> {
  const ids = sampleIds(place, 10_000);
  const rates: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const startedAt = performance.now();
    await inFlight(CHANGES_PER_ROUND, n => {
      const id = ids[(n * 7_919) % ids.length];
      const topic = [TOPICS[(n * 31) % TOPICS.length] ?? ''];
      return change(place, id ?? '', round % 2 === 0 ? topic : [], round % 2 === 0 ? [] : topic);
    });
    rates.push(CHANGES_PER_ROUND / ((performance.now() - startedAt) / 1000));
  }
  return median(rates);
}

/** Changes a label of the newest message this many times. */
export async function relabel(place: Place, times: number): Promise<void> {
  const [id] = sampleIds(place, 1);
  await inFlight(times, n => change(place, id ?? '', [`state ${n % 100}`], [`state ${(n + 99) % 100}`]));
}

async function change(
  place: Place,
  messageId: string,
  addLabels: string[],
  removeLabels: string[],
): Promise<void> {
  const deps = { store: place.store };
  await changeLabels(deps, {
    accountId: place.accountId,
    messageId,
    kind: 'received',
    add_labels: addLabels,
    remove_labels: removeLabels,
  });
}

/** Ids of messages that are spread over the mailbox. */
function sampleIds({ store, inboxId, size }: Place, count: number): MessageId[] {
  const step = Math.max(1, Math.floor(size / count));
  return Array.from({ length: count }, (_, index) => {
    const from = 1 + index * step;
    const [entry] = store.read(reader =>
      scanSummaries(
        reader,
        { inboxId, kind: 'received' },
        { from, to: from + step, isDescending: false, limit: 1 },
      ),
    );
    return JSON.parse(entry?.summary.toString('utf8') ?? '{}').id as MessageId;
  });
}

async function inFlight(count: number, work: (n: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
}
