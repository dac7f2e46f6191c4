import t from 'tap';
import { DAY_MS } from '../../../../src/domain/instants.js';
import { getAccount } from '../../../../src/store/records/accounts.js';
import { verifyStore } from '../../../../src/store/verify/verify-store.js';
import { mailFeedbackDigest, submitFeedback } from '../../../../src/usecases/accounts/feedback.js';
import { sweep } from '../../../../src/usecases/upkeep/sweep.js';
import { silent, withHouse } from '../with-house.js';

t.test('of a day the first twenty are mailed as they come, the rest is told in one digest', async t => {
  const house = await withHouse(t);
  const account = house.store.read(reader => getAccount(reader, house.account))!;
  const sent: { subject: string; text: string }[] = [];
  const deps = {
    ...house,
    mail: { send: async (mail: { subject: string; text: string }) => void sent.push(mail) },
    operator: 'postmaster@example.org',
    serviceName: 'Postern',
    log: silent,
    limits: { storageMib: 2048 },
  };
  const give = (body: string) => submitFeedback(deps, { account, body });
  const sweepAll = () =>
    sweep({ ...house, mailDigest: accountId => mailFeedbackDigest(deps, accountId) }, () => false);
  for (let n = 0; n < 25; n++) {
    await give(`feedback ${n}`);
    house.now.ms += 60_000;
  }
  t.equal(sent.length, 20);
  t.match(sent.at(-1)?.text, /feedback 19/);
  await sweepAll();
  t.equal(sent.length, 20, 'the day is not over');
  t.same(verifyStore(house.store).faults, []);
  house.now.ms += DAY_MS;
  await give('one of the next day, before the digest has left');
  t.equal(sent.length, 20);
  await sweepAll();
  t.equal(sent.length, 21);
  t.match(sent.at(-1), {
    subject: `Feedback: 6 more of ${account.email}`,
    text: /feedback 26 times since\n2026-01-15T12:00/,
  });
  t.same(verifyStore(house.store).faults, []);
  await sweepAll();
  t.equal(sent.length, 21, 'once');
  await give('a new day');
  t.equal(sent.length, 22);
});
