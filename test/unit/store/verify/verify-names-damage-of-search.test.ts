import t from 'tap';
import type { AccountId, InboxId } from '../../../../src/domain/ids.js';
import type { Writer } from '../../../../src/store/engine/tables.js';
import {
  beginRebuild,
  getSearch,
  searchAccountsTable,
  searchFoldersTable,
} from '../../../../src/store/records/search.js';
import { verifyStore } from '../../../../src/store/verify/verify-store.js';
import { withHouse } from '../../usecases/with-house.js';
import { index, parsed } from '../../usecases/with-parser.js';

interface Place {
  readonly account: AccountId;
  readonly inbox: InboxId;
}

const DAMAGES: readonly (readonly [string, (writer: Writer, place: Place) => void, RegExp])[] = [
  [
    'nobody tells an index what it has to learn',
    (writer, { account }) =>
      writer.put(searchAccountsTable, account, { ...getSearch(writer, account)!, dueAt: null }),
    /change that nobody tells the search index of account/,
  ],
  [
    'nobody makes an index anew',
    (writer, { account }) => {
      beginRebuild(writer, account, 'test', 1);
      writer.put(searchAccountsTable, account, { ...getSearch(writer, account)!, dueAt: null });
    },
    /search index of account .*, which nobody makes anew/,
  ],
  [
    'a folder has a number that was not given',
    (writer, { account, inbox }) =>
      writer.put(searchFoldersTable, { inboxId: inbox, kind: 'sent' }, { accountId: account, number: 7 }),
    /number in the search index of sent mail of inbox .*, which was not given/,
  ],
  [
    'an index is of no account',
    (writer, { account, inbox }) =>
      writer.put(searchAccountsTable, inbox as string as AccountId, {
        ...getSearch(writer, account)!,
        dueAt: null,
      }),
    /search index of account .*, which is not there/,
  ],
];

for (const [what, damage, name] of DAMAGES) {
  t.test(`verify says so when ${what}`, async t => {
    const house = await withHouse(t);
    const inbox = await house.addInbox('agent');
    await index(house, await house.receive('raw', inbox), parsed());
    t.same(verifyStore(house.store).faults, []);
    await house.store.write(writer => damage(writer, { account: house.account, inbox }));
    const { faults } = verifyStore(house.store);
    t.ok(
      faults.some(fault => name.test(fault)),
      `names it: ${faults.join('\n')}`,
    );
  });
}
