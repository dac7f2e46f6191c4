import fc from 'fast-check';
import t from 'tap';
import type { AccountEvent } from '../../../../src/contract/events.js';
import type { InboxId, MessageId } from '../../../../src/domain/ids.js';
import { messagesTable, sentTable } from '../../../../src/store/mailbox/messages.js';
import { listInboxes } from '../../../../src/store/records/inboxes.js';
import { verifyStore } from '../../../../src/store/verify/verify-store.js';
import { reparseMessage } from '../../../../src/usecases/inbound/index-message.js';
import { deleteInbox } from '../../../../src/usecases/inboxes/inboxes.js';
import {
  deleteMessage,
  restoreMessage,
  trashMessage,
} from '../../../../src/usecases/mailbox/change-messages.js';
import { sendMessage } from '../../../../src/usecases/sending/recipes.js';
import { parseLetter } from '../threads/with-threads.js';
import { ACCEPTED, Desk, REJECTED, UNKNOWN } from '../with-desk.js';
import { DAY_MS, type House, withHouse } from '../with-house.js';
import { gaveUp, index } from '../with-parser.js';
import { eventsOf } from './with-events.js';

/*
 * The model knows nothing of events: it looks at the mailbox before and after each step, and says what must have been
 * told of the difference.
 */

const step = fc.record({
  act: fc.constantFrom(
    'letter',
    'letter',
    'letter',
    'bad',
    'trash',
    'restore',
    'delete',
    'again',
    'send',
    'week',
    'drop',
  ),
  which: fc.nat(20),
  answers: fc.array(fc.nat(6), { maxLength: 2 }),
});

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

interface Shown {
  readonly status: string;
  readonly isTrashed: boolean;
}

/** How each message of an inbox that is there looks, and the inboxes. */
function look(house: House): ReadonlyMap<string, Shown> {
  return house.store.read(reader => {
    const seen = new Map<string, Shown>();
    const inboxes = listInboxes(reader, house.account, 100).map(({ id }) => id as string);
    for (const id of inboxes) seen.set(`inbox ${id}`, { status: 'there', isTrashed: false });
    for (const table of [messagesTable, sentTable] as const) {
      const whole = { from: Buffer.alloc(1), to: Buffer.alloc(17, 0xff), limit: 10_000 };
      for (const { value } of reader.scan(table as typeof messagesTable, whole)) {
        if (!inboxes.includes(value.inboxId)) continue;
        seen.set(`${value.kind} ${value.id}`, { status: value.status, isTrashed: value.trash !== null });
      }
    }
    return seen;
  });
}

/** What must be told of the difference, in any order. */
function expected(before: ReadonlyMap<string, Shown>, after: ReadonlyMap<string, Shown>): string[] {
  const told: string[] = [];
  const leaving = [...before.keys()].some(key => key.startsWith('inbox') && !after.has(key));
  for (const key of new Set([...before.keys(), ...after.keys()])) {
    const [kind, id] = key.split(' ');
    const [was, is] = [before.get(key), after.get(key)];
    if (kind === 'inbox') {
      if (was === undefined) told.push(`inbox.created ${id}`);
      if (is === undefined) told.push(`inbox.deleted ${id}`);
      continue;
    }
    if (is === undefined) {
      if (!leaving) told.push(`trash.purged ${id}`);
      continue;
    }
    if (kind === 'sent' && was === undefined) told.push(`send.outcome ${id}`);
    if (kind === 'received' && is.status !== was?.status) {
      if (is.status === 'ready') told.push(`message.received ${id}`);
      if (is.status === 'failed') told.push(`message.failed ${id}`);
    }
    if (was !== undefined && was.isTrashed !== is.isTrashed) {
      told.push(`trash.${is.isTrashed ? 'moved' : 'restored'} ${id}`);
    }
  }
  return told.sort();
}

const named = (event: AccountEvent): string =>
  `${event.type} ${'message_id' in event ? event.message_id : event.inbox_id}`;

class Run {
  readonly #house: House;
  readonly #desk: Desk;
  readonly #letters: MessageId[] = [];
  readonly #sent: MessageId[] = [];
  #inbox: InboxId | null = null;
  #count = 0;

  constructor(house: House) {
    this.#house = house;
    this.#desk = new Desk(house);
  }

  async take({ act, which, answers }: Step): Promise<void> {
    const house = this.#house;
    const { account: accountId } = house;
    const isNew = this.#inbox === null;
    this.#inbox ??= await house.addInbox(`agent${this.#count++}`);
    const kind = which % 3 === 0 ? 'sent' : 'received';
    const ids = kind === 'sent' ? this.#sent : this.#letters;
    const messageId = ids[which % Math.max(1, ids.length)] ?? '';
    const input = { accountId, messageId, kind } as const;
    house.now.ms += 1_000;
    switch (act) {
      case 'letter':
      case 'bad': {
        const id = await house.receive('raw', this.#inbox);
        this.#letters.push(id);
        if (act === 'bad') await index(house, id, gaveUp('timeout'));
        else await parseLetter(house, id, `${this.#count++}`, answers.map(String));
        break;
      }
      case 'trash':
        await trashMessage(house, input);
        break;
      case 'restore':
        await restoreMessage(house, input);
        break;
      case 'delete':
        await deleteMessage(house, input);
        break;
      case 'again':
        await reparseMessage(house, messageId);
        await parseLetter(house, messageId as MessageId, `${this.#count++}`, answers.map(String));
        break;
      case 'send': {
        this.#desk.outcome = [ACCEPTED, REJECTED, UNKNOWN][which % 3] ?? ACCEPTED;
        const mail = { to: [{ address: 'a@elsewhere.example' }], subject: 'Hi', text: 'Hi' };
        const done = await sendMessage(this.#desk.deps, { accountId, inboxId: this.#inbox, ...mail });
        if (!done.limited) this.#sent.push(done.message.id as MessageId);
        break;
      }
      case 'week':
        house.now.ms += 7 * DAY_MS;
        await house.sweepAll();
        break;
      case 'drop':
        if (isNew || which % 4 !== 0) break;
        await deleteInbox(house, { accountId, inboxId: this.#inbox });
        this.#inbox = null;
    }
  }
}

t.test('whatever happens to mail is told once, in its order, and nothing else is', async t => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 20 }),
      fc.integer({ min: 1, max: 5 }),
      async (steps, limit) => {
        const house = await withHouse(t, { inboxLimit: 100 });
        const { list, all } = eventsOf(house);
        const run = new Run(house);
        let { next } = await list();
        const told: string[] = [];
        for (const one of steps) {
          const before = look(house);
          // What is refused changes nothing.
          await run.take(one).catch(() => {});
          const news = await all({ after: next, limit });
          ({ next } = await list({ after: next }));
          told.push(...news.map(({ id }) => id));
          const names = news.filter(({ type }) => type !== 'thread.merged').map(named);
          t.strictSame(names.sort(), expected(before, look(house)));
        }
        const whole = await all({ limit });
        t.strictSame(
          whole.map(({ id }) => id),
          told.slice(told.length - whole.length),
          'read again, it is the same, as far as it is kept',
        );
        t.strictSame(
          whole.map(({ sequence }) => sequence),
          whole.map((_, at) => told.length - whole.length + at + 1),
        );
        t.strictSame(verifyStore(house.store).faults, []);
      },
    ),
    { numRuns: 15 },
  );
});
