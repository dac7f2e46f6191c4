import t from 'tap';
import { NOT_CHECKED } from '../../../../src/domain/authentication.js';
import { resultOf } from '../../../../src/domain/errors.js';
import type { InboxId, MessageId } from '../../../../src/domain/ids.js';
import { NO_FILTER } from '../../../../src/domain/message-filter.js';
import { recoverParsing, reparseMessage } from '../../../../src/usecases/inbound/index-message.js';
import {
  changeLabels,
  deleteMessage,
  restoreMessage,
  trashMessage,
} from '../../../../src/usecases/mailbox/change-messages.js';
import { countMessages } from '../../../../src/usecases/mailbox/count-messages.js';
import { listTrash } from '../../../../src/usecases/mailbox/list-trash.js';
import { openAttachment } from '../../../../src/usecases/mailbox/read-message.js';
import { readFacts } from '../../../support/box/store-facts.js';
import { countChunks, pattern } from '../../store/with-blobs.js';
import { DAY_MS, type House, withHouse } from '../with-house.js';
import { attached, gaveUp, index, parsed, prepared } from '../with-parser.js';

const asOwner = (house: House, messageId: MessageId) => ({ accountId: house.account, messageId });

const countFrom = async (house: House, inboxId: InboxId, from: string | null) =>
  await countMessages(house, {
    accountId: house.account,
    inboxId,
    kind: 'received',
    filter: { ...NO_FILTER, from },
  });

t.test('trashed while pending, it is parsed all the same and comes back ready', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  const id = await house.receive('raw', inbox);
  await changeLabels(house, {
    ...asOwner(house, id),
    add_labels: ['kept'],
    remove_labels: [],
    kind: 'received',
  });
  await trashMessage(house, { ...asOwner(house, id), kind: 'received' });
  t.strictSame(house.pending(), [id], 'it still waits to be parsed');
  await index(house, id, async () => ({
    status: 'parsed',
    prepared: prepared({}, [attached('a1', 'file.bin', Buffer.from('raw'))]),
  }));
  t.equal(await countFrom(house, inbox, null), 0, 'in no list');
  t.equal(await countFrom(house, inbox, 'sender@elsewhere.example'), 0, 'in no set');
  const trash = { accountId: house.account, inboxId: inbox, limit: 10, cursor: null };
  t.match(listTrash(house, trash).messages, [{ id, subject: 'Hello', from: { name: 'Sender' } }]);
  t.match(
    resultOf(() => openAttachment(house, { ...asOwner(house, id), attachmentId: 'a1' })),
    { ok: false },
  );
  t.strictSame(await restoreMessage(house, { ...asOwner(house, id), kind: 'received' }), {
    id,
    inbox_id: inbox,
    thread_id: house.message(id)!.threadId,
    status: 'restored',
    message: 'The message is back with its labels.',
  });
  t.match(house.message(id), { status: 'ready', labels: ['kept'], trash: null });
  t.equal(await countFrom(house, inbox, 'sender@elsewhere.example'), 1);
  t.match(
    resultOf(() => openAttachment(house, { ...asOwner(house, id), attachmentId: 'a1' })),
    {
      ok: true,
      value: { size: 3, filename: 'file.bin' },
    },
  );
  t.strictSame(readFacts(house.store).faults, []);
});

t.test('trashed in the middle of parsing, and restored in the middle of it', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  const id = await house.receive('raw', inbox);
  await index(house, id, async () => {
    await trashMessage(house, { ...asOwner(house, id), kind: 'received' });
    return { status: 'parsed', prepared: prepared({ text: 'x'.repeat(150_000) }) };
  });
  t.match(house.message(id), { status: 'ready', trash: { number: 1 } });
  await restoreMessage(house, { ...asOwner(house, id), kind: 'received' });

  const second = await house.receive('raw', inbox);
  await trashMessage(house, { ...asOwner(house, second), kind: 'received' });
  await index(house, second, async () => {
    await restoreMessage(house, { ...asOwner(house, second), kind: 'received' });
    return { status: 'parsed', prepared: prepared({ text: 'x'.repeat(150_000) }) };
  });
  t.match(house.message(second), { status: 'ready', trash: null });
  t.equal(await countFrom(house, inbox, 'sender@elsewhere.example'), 2);
});

t.test('a parse that fails, or ends with its process, leaves Trash as it is', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  const [one, two] = [await house.receive('raw', inbox), await house.receive('raw', inbox)];
  for (const id of [one, two]) await trashMessage(house, { ...asOwner(house, id), kind: 'received' });
  await index(house, one, gaveUp('timeout'));
  void index(house, two, () => new Promise(() => {}));
  while (house.message(two)?.status !== 'processing') await house.store.write(() => undefined);
  await recoverParsing(house);
  t.match(house.message(two), { status: 'pending', trash: { number: 2 } });
  const trash = { accountId: house.account, inboxId: inbox, limit: 10, cursor: null };
  t.match(listTrash(house, trash).messages, [
    { id: two, from: null },
    { id: one, from: null },
  ]);
  t.equal(await countFrom(house, inbox, null), 0);
  t.strictSame(readFacts(house.store).faults, []);
});

t.test('deleted, or swept out of Trash, in the middle of parsing, it leaves nothing', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  for (const way of ['delete', 'sweep', 'delete from Trash'] as const) {
    const id = await house.receive(pattern(200_000), inbox);
    const outcome = await index(house, id, async () => {
      if (way !== 'delete') await trashMessage(house, { ...asOwner(house, id), kind: 'received' });
      if (way === 'sweep') house.now.ms += 7 * DAY_MS;
      if (way === 'sweep') await house.sweepAll();
      else await deleteMessage(house, { ...asOwner(house, id), kind: 'received' });
      return { status: 'parsed', prepared: prepared({ text: 'x'.repeat(150_000) }) };
    });
    t.strictSame(outcome, { status: 'done' }, way);
    t.equal(house.message(id), undefined, way);
    await house.store.write(() => undefined);
    await house.sweepAll();
    t.equal(countChunks(house.store), 0, way);
    t.strictSame(house.pending(), [], way);
  }
  t.strictSame(readFacts(house.store), {
    messages: [],
    sent: [],
    chunks: 0,
    uploads: 0,
    pending: {
      index: 0,
      parse: 0,
      authenticate: 0,
      'purge-blob': 0,
      'purge-inbox': 0,
      'purge-trash': 0,
      'purge-thread': 0,
      deliver: 0,
      relay: 0,
      'relay-held': 0,
      'expire-charges': 0,
      'expire-key': 0,
      'expire-link': 0,
      'expire-phrase': 0,
      'feedback-digest': 0,
      'lapse-suppression': 0,
      'expire-upload': 0,
      'expire-events': 2,
      'webhook-mail': 0,
    },
    faults: [],
  });
});

t.test('a message that waits to be looked at again leaves with its pending work', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  const waiting = () => readFacts(house.store).pending.authenticate;
  const unknown = {
    authentication: { ...NOT_CHECKED, dmarc: { ...NOT_CHECKED.dmarc, result: 'temperror' } },
  } as const;
  for (const way of ['delete', 'sweep', 'reparse'] as const) {
    const id = await house.receive('raw', inbox);
    await index(house, id, parsed({}, unknown));
    t.equal(waiting(), 1, way);
    if (way === 'sweep') {
      await trashMessage(house, { ...asOwner(house, id), kind: 'received' });
      t.equal(waiting(), 1, 'Trash does not end it');
      house.now.ms += 7 * DAY_MS;
      await house.sweepAll();
    } else if (way === 'reparse') await reparseMessage(house, id);
    else await deleteMessage(house, { ...asOwner(house, id), kind: 'received' });
    t.equal(waiting(), 0, way);
    t.strictSame(readFacts(house.store).faults, [], way);
  }
});

t.test('mail is due to be parsed at once, even where its inbox is ahead of the clock', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  house.now.ms += 30 * DAY_MS;
  const early = await house.receive('raw', inbox);
  house.now.ms -= 30 * DAY_MS;
  const late = await house.receive('raw', inbox);
  t.equal(house.message(late)?.receivedAt, house.message(early)?.receivedAt, 'instants do not run backwards');
  t.equal(house.message(late)?.parseDueAt, house.now.ms);
  await index(house, late, parsed());
  t.equal(house.message(late)?.status, 'ready');
});
