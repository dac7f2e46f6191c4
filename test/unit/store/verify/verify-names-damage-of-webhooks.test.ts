import t from 'tap';
import type { AccountId, WebhookId } from '../../../../src/domain/ids.js';
import { idToBytes } from '../../../../src/domain/ids.js';
import { joinKey } from '../../../../src/store/engine/keys.js';
import {
  accountWebhooksTable,
  putRetry,
  putWebhook,
  removeRetry,
} from '../../../../src/store/records/webhooks.js';
import { withHooks } from '../../usecases/webhooks/with-hooks.js';

t.test('each is named', async t => {
  const hooks = await withHooks(t);
  const { store, account } = hooks.house;
  const made = await hooks.make();
  const id = made.id as WebhookId;
  hooks.receiver.answers(() => 500);
  await hooks.happen(2);
  await hooks.tell(made);
  t.strictSame(hooks.faults(), []);
  const [retry] = hooks.retries(made);
  const record = hooks.record(made);
  if (retry === undefined) throw new Error('nothing waits');
  const damage = async (
    break_: Parameters<typeof store.write>[0],
    mend: Parameters<typeof store.write>[0],
    words: RegExp,
  ) => {
    await store.write(break_);
    t.match(hooks.faults().join('\n'), words);
    await store.write(mend);
    t.strictSame(hooks.faults(), []);
  };
  await damage(
    writer => removeRetry(writer, id, retry.sequence),
    writer => putRetry(writer, id, retry),
    /event that waits to be sent again to webhook/,
  );
  await damage(
    writer => putWebhook(writer, { ...record, place: 99 }),
    writer => putWebhook(writer, record),
    /event 99 of account/,
  );
  await damage(
    writer => putWebhook(writer, { ...record, outcomes: 1 }),
    writer => putWebhook(writer, record),
    /outcome of webhook/,
  );
  const key = joinKey(idToBytes(account as AccountId), idToBytes(id));
  await damage(
    writer => writer.remove(accountWebhooksTable, key),
    writer => putWebhook(writer, record),
    /webhook .* of account/,
  );
});
