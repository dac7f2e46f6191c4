import t from 'tap';
import {
  type AccountId,
  type ApprovalId,
  type MessageId,
  newId,
  type UploadId,
  type WebhookId,
} from '../../../../src/domain/ids.js';
import { walkTable } from '../../../../src/store/engine/tables.js';
import { findLink, findPhrase, putNewLink, putNewPhrase } from '../../../../src/store/records/approvals.js';
import {
  addCharge,
  chargesTable,
  releaseCharge,
  usedAllowance,
} from '../../../../src/store/records/charges.js';
import { getUpload } from '../../../../src/store/records/file-uploads.js';
import { addPending, findActiveKey, listDue, putKey } from '../../../../src/store/records/pending.js';
import { findAccountSuppression, learnSuppression } from '../../../../src/store/records/suppressions.js';
import { verifyStore } from '../../../../src/store/verify/verify-store.js';
import { Redating } from '../../../../src/usecases/upkeep/redate.js';
import { upload } from '../uploads/with-uploads.js';
import { withHouse } from '../with-house.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;
const END = 2 ** 47;

t.test('once the clock is right again, and not before', async t => {
  const house = await withHouse(t);
  const { store, now, clock } = house;
  const accountId = house.account as AccountId;
  const inboxId = await house.addInbox('agent');
  const redating = new Redating({ store, clock });
  await redating.run(() => false);
  const start = now.ms;
  const key = (name: string) => ({ accountId, namespace: 'send' as const, key: name });
  const make = async (name: string): Promise<MessageId> => {
    const id = newId<MessageId>(now.ms);
    await store.write(writer => {
      addCharge(writer, { accountId, at: now.ms, id }, 1);
      putKey(writer, key(name), { intent: '', resultId: id, expiresAt: now.ms + DAY });
      const approval = { id: newId<ApprovalId>(now.ms), email: 'a@x.example', createdAt: now.ms };
      const link = { ...approval, method: 'mail' as const, approvedAt: null, expiresAt: now.ms + DAY / 2 };
      putNewLink(writer, Buffer.from(name), link);
      putNewPhrase(writer, Buffer.from(name), { ...approval, method: 'mail', expiresAt: now.ms + DAY / 4 });
      const learnt = { source: 'report', reason: '5.1.1', learntAt: now.ms } as const;
      learnSuppression(writer, { accountId, address: `${name}@x.example`, ...learnt });
    });
    return id;
  };
  await make('right');
  now.ms += YEAR;
  now.isInDoubt = true;
  const ahead = await make('ahead');
  const uploadId = (await upload(house, Buffer.from('abc'))) as UploadId;
  const received = await house.receive('Subject: x\r\n\r\n', inboxId);
  const blob = newId<never>(now.ms);
  await store.write(writer => addPending(writer, now.ms, { kind: 'purge-blob', id: blob }));
  now.ms = start + HOUR;
  now.setBackMs = YEAR;
  await redating.run(() => false);
  t.equal(house.message(received)!.parseDueAt, start + YEAR, 'in doubt, nothing is touched');
  now.isInDoubt = false;
  await redating.run(() => false);

  t.equal(house.message(received)!.parseDueAt, now.ms);
  t.same(
    store.read(reader => listDue(reader, 'purge-blob', END, 9)).map(({ dueAt }) => dueAt),
    [now.ms],
  );
  const [link, phrase] = store.read(reader => [
    findLink(reader, Buffer.from('ahead'))!.expiresAt,
    findPhrase(reader, Buffer.from('ahead'))!.expiresAt,
  ]);
  t.same([link, phrase], [now.ms + DAY / 2, now.ms + DAY / 4]);
  t.equal(store.read(reader => getUpload(reader, accountId, uploadId))?.expiresAt, now.ms + DAY);
  const untilOf = (name: string) =>
    store.read(reader => findAccountSuppression(reader, accountId, `${name}@x.example`)?.until);
  t.same([untilOf('ahead'), untilOf('right')], [now.ms + 90 * DAY, start + 90 * DAY]);
  const isActive = (name: string, at: number) =>
    store.read(reader => findActiveKey(reader, key(name), at)) !== undefined;
  t.same([isActive('ahead', now.ms + DAY - 1), isActive('ahead', now.ms + DAY)], [true, false]);
  t.same(
    [isActive('right', start + DAY - 1), isActive('right', start + DAY)],
    [true, false],
    'the others stay',
  );
  const used = (at: number) => store.read(reader => usedAllowance(reader, accountId, at));
  t.same(
    [used(now.ms), used(start + DAY), used(now.ms + DAY)],
    [2, 1, 0],
    'the allowance is back after a day',
  );
  t.same(
    verifyStore(store).faults.filter(fault => /pending|charge|sum|suppress|upload/.test(fault)),
    [],
  );

  await store.write(writer => releaseCharge(writer, { accountId, at: start + YEAR, id: ahead }));
  t.equal(used(now.ms), 1, 'a rejected send gives back a charge that was moved');
  now.ms += 2 * DAY;
  await house.sweepAll();
  t.same(
    store.read(reader => [...walkTable(reader, chargesTable)]),
    [],
    'and the sweep forgets the rest in time',
  );
});

t.test('entries that come to the same instant do not take each other away', async t => {
  const house = await withHouse(t);
  const { store, now, clock } = house;
  const accountId = house.account as AccountId;
  const other = newId<AccountId>(now.ms);
  const webhookId = newId<WebhookId>(now.ms);
  const news = {
    kind: 'webhook-mail',
    id: webhookId,
    accountId,
    url: 'https://x.example/',
    tries: 0,
  } as const;
  await store.write(writer => {
    // The open one comes first, so that the closed ones are met after it; of the other account there are closed ones only.
    for (const [n, before] of [null, 5, 9, 7].entries()) {
      addPending(writer, now.ms + YEAR + n, { kind: 'expire-events', id: accountId, before });
    }
    for (const [n, before] of [5, 9, 7].entries()) {
      addPending(writer, now.ms + YEAR + n, { kind: 'expire-events', id: other, before });
    }
    addPending(writer, now.ms + YEAR, { ...news, what: 'made' });
    addPending(writer, now.ms + YEAR + 1, { ...news, what: 'gone' });
  });
  now.setBackMs = YEAR;
  await new Redating({ store, clock }).run(() => false);
  const beforeOf = (id: AccountId) =>
    store
      .read(reader => listDue(reader, 'expire-events', now.ms + YEAR / 2, 99))
      .filter(({ work }) => work.id === id)
      .map(({ work }) => work.before);
  t.strictSame(beforeOf(accountId), [null]);
  t.strictSame(beforeOf(other), [9]);
  t.strictSame(
    store.read(reader => listDue(reader, 'webhook-mail', now.ms + DAY, 9)).map(({ work }) => work.what),
    ['made', 'gone'],
  );
});
