import { randomInt } from 'node:crypto';
import t, { type Test } from 'tap';
import type { InboxId, MessageId } from '../../../../src/domain/ids.js';
import type { MessageKind } from '../../../../src/store/mailbox/folders.js';
import { getMessage, getSent } from '../../../../src/store/mailbox/messages.js';
import { folderNumberOf } from '../../../../src/store/records/search.js';
import { verifyStore } from '../../../../src/store/verify/verify-store.js';
import { reparseMessage } from '../../../../src/usecases/inbound/index-message.js';
import { deleteInbox } from '../../../../src/usecases/inboxes/inboxes.js';
import {
  deleteMessage,
  restoreMessage,
  trashMessage,
} from '../../../../src/usecases/mailbox/change-messages.js';
import { feedIndexes } from '../../../../src/usecases/search/feed-index.js';
import { rebuildIndexes } from '../../../../src/usecases/search/search-admin.js';
import type { WordFeed } from '../../../../src/usecases/search/word-feed.js';
import { found, rawFiles, withIndex } from '../../search/with-index.js';
import { silent, withHouse } from '../with-house.js';
import { parsed, index as publish } from '../with-parser.js';
import { putSent } from '../with-sent.js';

const STEPS = 160;

t.setTimeout(120_000);

interface Known {
  readonly id: MessageId;
  readonly kind: MessageKind;
  readonly inboxId: InboxId;
}

/** Whatever happens while indexes are fed and made anew, and however often that is cut off, they end right. */
for (let run = 0; run < 3; run += 1) t.test(`changes, rebuilds and interruptions, run ${run}`, random);

async function random(t: Test): Promise<void> {
  const house = await withHouse(t, { inboxLimit: 20 });
  const { store, account } = house;
  const real = withIndex(t, house);
  const inboxes = [await house.addInbox('a'), await house.addInbox('b')];
  const messages: Known[] = [];
  let words = 0;
  const pick = () => messages[randomInt(messages.length || 1)];
  const inputOf = ({ id, kind }: Known) => ({ accountId: account, messageId: id, kind });

  const acts: (() => Promise<unknown>)[] = [
    async () => {
      const inboxId = inboxes[randomInt(inboxes.length)]!;
      const id = await house.receive('raw', inboxId);
      if (randomInt(8) > 0) await publish(house, id, parsed({ text: `common word${words++}x` }));
      messages.push({ id, kind: 'received', inboxId });
    },
    async () => {
      const inboxId = inboxes[randomInt(inboxes.length)]!;
      const { id } = await putSent(store, inboxId, house.now.ms, { text: `common word${words++}x` });
      messages.push({ id, kind: 'sent', inboxId });
    },
    async () => trashMessage(house, inputOf(pick()!)),
    async () => restoreMessage(house, inputOf(pick()!)),
    async () => deleteMessage(house, inputOf(pick()!)),
    async () => {
      const { id, kind } = pick()!;
      if (kind === 'sent') return;
      await reparseMessage(house, id);
      if (randomInt(2) > 0) await publish(house, id, parsed({ text: `again word${words++}x` }));
    },
    async () => rebuildIndexes(house, account),
    async () => real.feed(),
    async () => cutOff(),
    async () => {
      if (inboxes.length < 2 || randomInt(6) > 0) return;
      const [inboxId] = inboxes.splice(0, 1);
      await deleteInbox(house, { accountId: account, inboxId: inboxId! });
      inboxes.push(await house.addInbox(`c${words++}`));
    },
    async () => house.sweepAll(),
  ];

  /** Feeds with a process that ends between the index and the store, and with changes that come in between. */
  async function cutOff(): Promise<void> {
    let rounds = 0;
    const feed: WordFeed = {
      apply: async batch => {
        const outcome = await realFeed().apply(batch);
        if (randomInt(3) === 0) await attempt(acts[randomInt(6)]!);
        return randomInt(3) === 0 ? { status: 'failed', reason: 'cut off' } : outcome;
      },
    };
    await feedIndexes({ store, clock: house.clock, log: silent, feed }, () => rounds++ > 3);
    house.now.ms += 5_000;
  }
  const realFeed = () => real.index as unknown as WordFeed;
  const attempt = async (act: () => Promise<unknown>) => {
    if (messages.length === 0) return acts[0]!();
    // What is gone, or where it is not expected, is refused.
    return act().catch(() => undefined);
  };

  for (let step = 0; step < STEPS; step += 1) await attempt(acts[randomInt(acts.length)]!);
  await house.sweepAll();
  house.now.ms += 5_000;
  await real.feed();
  t.same(verifyStore(store).faults, []);

  const expected = messages.flatMap(({ id, kind, inboxId }) => {
    const record = store.read(reader => (kind === 'sent' ? getSent(reader, id) : getMessage(reader, id)));
    return record === undefined || record.content === null ? [] : [{ seq: record.seq, kind, inboxId }];
  });
  const all = new Set<string>();
  for (const inboxId of inboxes) {
    for (const kind of ['received', 'sent'] as const) {
      if (store.read(reader => folderNumberOf(reader, { inboxId, kind })) === null) continue;
      const of = expected.filter(one => one.inboxId === inboxId && one.kind === kind).map(({ seq }) => seq);
      const seen = new Set<number>();
      for (const query of ['common', 'again', 'sent']) {
        const hits = await found(real.index, store, account, { inboxId, kind }, query);
        for (const seq of hits === 'unavailable' ? [] : hits) seen.add(seq);
        t.not(hits, 'unavailable');
      }
      t.strictSame(
        [...seen].sort((a, b) => a - b),
        of.sort((a, b) => a - b),
        `${kind} of ${inboxId}`,
      );
      for (const seq of seen) all.add(`${kind} ${inboxId} ${seq}`);
    }
  }
  t.comment(`${messages.length} messages, ${all.size} found`);
  t.ok([...rawFiles(store).values()].length > 0);
}
