import t from 'tap';
import type { MessageId } from '../../../../src/domain/ids.js';
import { RECORD_BYTES, storedBytes } from '../../../../src/store/records/storage.js';
import { verifyStore } from '../../../../src/store/verify/verify-store.js';
import { deleteDraft } from '../../../../src/usecases/drafts/read-draft.js';
import { createDraft, updateDraft } from '../../../../src/usecases/drafts/save-draft.js';
import { deleteInbox } from '../../../../src/usecases/inboxes/inboxes.js';
import {
  deleteMessage,
  restoreMessage,
  trashMessage,
} from '../../../../src/usecases/mailbox/change-messages.js';
import { receiptOf, withSending } from '../sending/with-sending.js';
import { index, parsed, prepared } from '../with-parser.js';

const RAW = 'Subject: Hi\r\n\r\nHello\r\n';

t.test('mail, drafts and sent copies count until they are deleted for good', async t => {
  const house = await withSending(t);
  const { account: accountId, inboxId } = house;
  const used = () => house.store.read(reader => storedBytes(reader, accountId));
  const sound = () => t.same(verifyStore(house.store).faults, []);
  t.equal(used(), 0);

  const id = await house.receive(RAW, inboxId);
  t.equal(used(), RECORD_BYTES + RAW.length);
  await index(house, id, parsed());
  const whole = RECORD_BYTES + RAW.length + prepared().json.length;
  t.equal(used(), whole, 'its content counts too');
  sound();
  const input = { accountId, messageId: id, kind: 'received' } as const;
  await trashMessage(house, input);
  t.equal(used(), whole, 'Trash counts');
  await restoreMessage(house, input);
  await deleteMessage(house, input);
  t.equal(used(), 0);
  sound();

  const draft = await createDraft(house.side.send, { accountId, inboxId, text: 'Hello', html: '<p>' });
  t.equal(used(), RECORD_BYTES + 'Hello<p>'.length);
  await updateDraft(house.side.send, { accountId, draftId: draft.id, text: '', html: null });
  t.equal(used(), RECORD_BYTES);
  sound();
  await deleteDraft(house, { accountId, draftId: draft.id });
  t.equal(used(), 0);

  const { message } = await receiptOf(house.submit());
  const sent = house.sent(message.id);
  t.equal(used(), RECORD_BYTES + (sent?.content.size ?? 0));
  sound();
  await deleteMessage(house, { accountId, messageId: message.id as MessageId, kind: 'sent' });
  t.equal(used(), 0);
});

t.test('with an inbox all that it held stops counting, before it is swept and after', async t => {
  const house = await withSending(t);
  const { account: accountId, inboxId } = house;
  const used = () => house.store.read(reader => storedBytes(reader, accountId));
  const kept = await house.addInbox('kept');
  const id = await house.receive(RAW, inboxId, kept);
  await index(house, id, parsed());
  await createDraft(house.side.send, { accountId, inboxId, text: 'Hello' });
  await house.submit();
  await deleteInbox(house, { accountId, inboxId });
  t.equal(used(), RECORD_BYTES + RAW.length, 'the copy in the other inbox counts');
  t.same(verifyStore(house.store).faults, []);
  await house.sweepAll();
  t.equal(used(), RECORD_BYTES + RAW.length);
  t.same(verifyStore(house.store).faults, []);
});
