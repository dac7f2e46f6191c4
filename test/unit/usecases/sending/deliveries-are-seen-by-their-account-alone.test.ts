import t from 'tap';
import { MAX_RECIPIENTS } from '../../../../src/contract/limits.js';
import { resultOf } from '../../../../src/domain/errors.js';
import type { AccountId } from '../../../../src/domain/ids.js';
import { trashMessage } from '../../../../src/usecases/mailbox/change-messages.js';
import { listDeliveries } from '../../../../src/usecases/sending/list-deliveries.js';
import { withDeliveries } from './with-deliveries.js';

const MISSING = { ok: false, failure: { code: 'not_found' } };

t.test(
  'all recipients in one answer, for the account that sent, and while the copy is not in Trash',
  async t => {
    const { desk, house, inbox } = await withDeliveries(t);
    const addresses = Array.from({ length: MAX_RECIPIENTS }, (_, n) => `n@${n}.example`);
    const messageId = await desk.send(inbox, ...addresses);
    const list = (accountId: AccountId, id: string = messageId) =>
      listDeliveries(house, { accountId, messageId: id });
    t.strictSame(
      list(house.account).deliveries.map(({ recipient }) => recipient),
      addresses,
    );
    const stranger = await house.addAccount('stranger@elsewhere.example');
    t.match(
      resultOf(() => list(stranger)),
      MISSING,
    );
    const received = await house.receive(Buffer.from('Subject: x\r\n\r\nx\r\n'), inbox as never);
    for (const id of ['nonsense', '01900000-0000-7000-8000-000000000000', received])
      t.match(
        resultOf(() => list(house.account, id)),
        MISSING,
        id,
      );
    await trashMessage(house, { accountId: house.account, messageId, kind: 'sent' });
    t.match(
      resultOf(() => list(house.account)),
      MISSING,
    );
  },
);
