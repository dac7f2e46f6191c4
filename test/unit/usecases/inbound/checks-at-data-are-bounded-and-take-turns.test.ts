import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Test } from 'tap';
import t from 'tap';
import type { AccountId } from '../../../../src/domain/ids.js';
import { unknownAuthentication } from '../../../../src/domain/verdict.js';
import { BlobUploads } from '../../../../src/store/records/blob-upload.js';
import { CHUNK_BYTES } from '../../../../src/store/records/blobs.js';
import {
  DATA_CHECK_LIMITS,
  type DataCheckLimits,
  DataChecks,
} from '../../../../src/usecases/inbound/check-at-data.js';
import { withStore } from '../../store/with-store.js';

const FOUND = unknownAuthentication('looked at.');

/** Checks that go on until they are let go: which are under way, by the address of their client. */
async function withChecks(t: Test, limits: Partial<DataCheckLimits>) {
  const store = await withStore(t);
  const uploads = new BlobUploads(store);
  const underWay: { readonly client: string; readonly end: () => void }[] = [];
  let most = 0;
  const checks = new DataChecks(
    {
      store,
      parser: { parse: async () => ({ status: 'stopped' }) },
      authenticator: {
        check: (_, { clientAddress: client }) =>
          new Promise(resolve => {
            const one = {
              client,
              end: () => {
                underWay.splice(underWay.indexOf(one), 1);
                resolve(FOUND);
              },
            };
            underWay.push(one);
            most = Math.max(most, underWay.length);
          }),
      },
    },
    { ...DATA_CHECK_LIMITS, turnMs: 60_000, answerMs: 60_000, ...limits },
  );
  return {
    store,
    uploads,
    underWay,
    most: () => most,
    check: (clientAddress: string, account = 'a', bytes = 100) => {
      const upload = uploads.begin();
      upload.write(Buffer.alloc(bytes));
      const envelope = { from: 'a@b.example', clientAddress, helo: 'h.example' };
      return checks.check(upload, envelope, account as AccountId, false);
    },
    /** Ends them as they come, until nothing is under way. */
    endAll: async () => {
      for (await nextTurn(); underWay.length > 0; await nextTurn()) underWay[0]?.end();
    },
  };
}

const clientsOf = (underWay: readonly { readonly client: string }[]) => underWay.map(({ client }) => client);

t.test('a network, an account and all together have so many at once', async t => {
  const limits = { all: 6, perNetwork: 4, perAccount: 4, perNetworkOfAccount: 3 };
  const { check, underWay, endAll, most } = await withChecks(t, limits);
  const answers = Array.from({ length: 10 }, (_, n) => check(`192.0.2.${n}`));
  await nextTurn();
  t.equal(underWay.length, 3, 'of one network for one account');
  answers.push(...Array.from({ length: 10 }, () => check('192.0.2.1', 'b')));
  await nextTurn();
  t.equal(underWay.length, 4, 'of one network');
  answers.push(...Array.from({ length: 10 }, () => check('198.51.100.1')));
  await nextTurn();
  t.equal(underWay.length, 5, 'for one account');
  answers.push(...Array.from({ length: 10 }, () => check('203.0.113.1', 'c')));
  await nextTurn();
  t.equal(underWay.length, 6, 'in all');
  await endAll();
  t.same(new Set((await Promise.all(answers)).map(found => found?.authentication)), new Set([FOUND]));
  t.equal(most(), 6);
});

t.test('who has none has the next turn', async t => {
  const limits = { all: 4, perNetwork: 4, perAccount: 4, perNetworkOfAccount: 4 };
  const { check, underWay, endAll } = await withChecks(t, limits);
  const answers = Array.from({ length: 20 }, () => check('192.0.2.1'));
  await nextTurn();
  answers.push(check('198.51.100.1'));
  await nextTurn();
  t.notOk(clientsOf(underWay).includes('198.51.100.1'));
  underWay[0]?.end();
  await nextTurn();
  await nextTurn();
  t.ok(clientsOf(underWay).includes('198.51.100.1'));
  await endAll();
  await Promise.all(answers);
});

t.test('one too many is to come again, and nobody is so for the others', async t => {
  const limits = { all: 1, waitingPerNetwork: 3, waiting: 5, waitingAlways: 1 };
  const { check, endAll } = await withChecks(t, limits);
  const flood = ['192.0.2.1', '198.51.100.1'].flatMap(client =>
    Array.from({ length: 3 }, () => check(client)),
  );
  t.equal(await check('192.0.2.1'), null, 'four of one network');
  const newcomer = check('203.0.113.1');
  t.equal(await check('203.0.113.1'), null, 'two, where there are more than five');
  await endAll();
  t.not(await newcomer, null);
  const taken = (await Promise.all(flood)).filter(found => found !== null);
  t.equal(taken.length, 5, 'the sixth had to go, its network having two');
  const again = check('192.0.2.1');
  await endAll();
  t.not(await again, null, 'when they have gone there is room');
});

t.test('who is not answered in time goes, and its place is taken until the work is over', async t => {
  const { check, underWay, endAll } = await withChecks(t, { all: 1, answerMs: 20, turnMs: 40 });
  t.equal(await check('192.0.2.1'), null, 'too long for an answer');
  t.equal(underWay.length, 1);
  t.equal(await check('198.51.100.1'), null, 'too long for a turn');
  t.equal(underWay.length, 1, 'the first still has it');
  await endAll();
  const next = check('198.51.100.1');
  await endAll();
  t.not(await next, null);
});

t.test('what waits leaves room in the window of uploads', async t => {
  const { check, uploads, endAll } = await withChecks(t, {});
  const size = CHUNK_BYTES + 1;
  const answers = Array.from({ length: 100 }, (_, n) => check(`10.0.${n}.1`, `a${n}`, size));
  t.equal(uploads.isFull, false);
  await endAll();
  t.notOk((await Promise.all(answers)).includes(null));
});
