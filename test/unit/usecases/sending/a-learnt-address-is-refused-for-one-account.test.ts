import t from 'tap';
import { learnOfRecipient } from '../../../../src/usecases/inboxes/suppressions.js';
import { sendMessage } from '../../../support/use-cases.js';
import { DAY_MS } from '../with-house.js';
import { faultsOf, receiptOf, withSending } from './with-sending.js';

t.test('the account that learnt it is refused until it lapses; another is not', async t => {
  const house = await withSending(t);
  const other = await house.addAccount('other@elsewhere.example');
  const otherInbox = await house.addInbox('other', other);
  await house.store.write(writer =>
    learnOfRecipient(writer, {
      accountId: house.account,
      recipient: 'ann@remote.example',
      source: 'report',
      status: '5.1.1',
      diagnostic: '550 5.1.1 nobody',
      at: house.now.ms,
    }),
  );
  const refused = await receiptOf(house.submit());
  t.match(refused.message, { status: 'rejected', error_code: 'E_RECIPIENT_SUPPRESSED' });
  t.equal(house.used(), 0);
  t.same(house.relay.ids, []);
  const sent = await receiptOf(
    sendMessage(house.side.send, {
      accountId: other,
      inboxId: otherInbox,
      to: [{ address: 'ANN@remote.example' }],
      subject: 'Notes',
      text: 'Hello',
    }),
  );
  t.match(sent.message, { status: 'accepted' });
  t.match((await receiptOf(house.submit({ to: [{ address: 'bob@remote.example' }] }))).message, {
    status: 'accepted',
  });
  house.now.ms += 90 * DAY_MS;
  await house.sweepAll();
  t.match((await receiptOf(house.submit())).message, { status: 'accepted' });
  t.same(faultsOf(house), []);
});
