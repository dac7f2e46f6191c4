import type { Test } from 'tap';
import type { ReceivedRecord } from '../../../src/store/mailbox/messages.js';
import type { TestAgent } from '../box/agents.js';
import type { PosternBox } from '../box/postern-box.js';
import { isAtRest, type StoreFacts, untilFacts } from '../box/store-facts.js';
import { sha256 } from '../letters/letters.js';
import type { Sent } from './senders.js';

export interface BookFigures {
  readonly acknowledged: number;
  /** Messages in the store. */
  readonly stored: number;
  /** Times that a sender could not know. */
  readonly unknown: number;
}

/**
 * The promise of the product against the book of the senders, once nothing is left to be done: every
 * acknowledged message is there, byte for byte and `ready`; none is there more often than it was sent; and
 * the store is sound, with no bytes that nothing refers to.
 */
export async function checkBook(
  t: Test,
  box: PosternBox,
  agent: TestAgent,
  book: readonly Sent[],
): Promise<BookFigures> {
  const facts = await untilFacts(box, isAtRest);
  t.same(facts.faults, [], 'the store is sound');
  t.equal(facts.uploads, 0, 'no upload is left over');
  const records = new Map<string, ReceivedRecord>(facts.messages.map(record => [record.id, record]));
  const wrong = facts.messages
    .filter(({ status }) => status !== 'ready')
    .map(({ id, status }) => `${id} ${status}`);
  t.same(wrong, [], 'every message is ready');

  const found = await countByHash(agent, facts);
  const lost: string[] = [];
  const excess: string[] = [];
  for (const { letter, ids, unknown } of book) {
    const stored = found.get(letter.sha256) ?? [];
    found.delete(letter.sha256);
    for (const id of ids) if (!stored.includes(id)) lost.push(`${id}: ${describe(records.get(id))}`);
    if (stored.length > ids.length + unknown) {
      excess.push(
        `${letter.messageId}: ${stored.length} times for ${ids.length} replies and ${unknown} unknown`,
      );
    }
  }
  t.same(lost, [], 'every acknowledged message is there, byte for byte, under the id of its reply');
  t.same(excess, [], 'no message is there more often than it was sent');
  t.same([...found.values()].flat(), [], 'nothing is there that was never sent');
  const acknowledged = book.flatMap(sent => sent.ids);
  t.equal(new Set(acknowledged).size, acknowledged.length, 'no id was given twice');
  return {
    acknowledged: acknowledged.length,
    stored: facts.messages.length,
    unknown: book.reduce((sum, sent) => sum + sent.unknown, 0),
  };
}

function describe(record: ReceivedRecord | undefined): string {
  return record === undefined ? 'missing' : `other bytes, ${record.raw.size} of them`;
}

/** Reads every message through the API; hash of its raw bytes -> the ids that have them. */
async function countByHash(agent: TestAgent, facts: StoreFacts): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  const queue = facts.messages.map(({ id }) => id as string);
  const readNext = async (): Promise<void> => {
    for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
      const hash = sha256(await agent.api.raw(id));
      found.set(hash, [...(found.get(hash) ?? []), id]);
    }
  };
  await Promise.all(Array.from({ length: 8 }, readNext));
  return found;
}
