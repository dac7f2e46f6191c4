import t from 'tap';
import { type AccountId, type InboxId, type KeyId, newId } from '../../../../src/domain/ids.js';
import type { Writer } from '../../../../src/store/engine/tables.js';
import { accessVersion } from '../../../../src/store/engine/writer.js';
import {
  type AccountRecord,
  accountsTable,
  apiKeysTable,
  putAccount,
  putNewKey,
  revokeKey,
} from '../../../../src/store/records/accounts.js';
import {
  type InboxRecord,
  inboxesTable,
  putInbox,
  putNewInbox,
  removeInbox,
} from '../../../../src/store/records/inboxes.js';
import { linesTable } from '../lines.js';
import { withStore } from '../with-store.js';

const account: AccountRecord = {
  id: newId<AccountId>(1),
  email: 'owner@elsewhere.example',
  createdAt: 1,
  permissions: { send: true, delete: true, restore: true },
  inboxLimit: null,
  sendLimit: null,
  isOperator: false,
};
const inbox: InboxRecord = {
  id: newId<InboxId>(1),
  accountId: account.id,
  localPart: 'agent',
  domain: 'example.org',
  name: null,
  senderName: null,
  createdAt: 1,
};
const keyId = newId<KeyId>(1);

t.test('whatever changes an account, a key or an inbox makes a version of its own', async t => {
  const store = await withStore(t);
  const changes: [string, (writer: Writer) => unknown][] = [
    ['a new account', writer => putAccount(writer, account)],
    ['other permissions', writer => putAccount(writer, { ...account, permissions: NOTHING })],
    [
      'a new key',
      writer =>
        putNewKey(
          writer,
          { id: keyId, accountId: account.id, name: null, createdAt: 1, revokedAt: null },
          Buffer.alloc(32),
        ),
    ],
    ['a revocation', writer => revokeKey(writer, keyId, 2)],
    ['a new inbox', writer => putNewInbox(writer, inbox)],
    ['another name', writer => putInbox(writer, { ...inbox, name: 'Agent' })],
    ['a deletion', writer => removeInbox(writer, inbox, 3)],
    ['an account that goes', writer => writer.remove(accountsTable, account.id)],
    ['a key that goes', writer => writer.remove(apiKeysTable, Buffer.alloc(32))],
  ];
  let before = store.read(accessVersion);
  for (const [name, change] of changes) {
    await store.write(change);
    const after = store.read(accessVersion);
    t.ok(after > before, name);
    before = after;
  }
});

const NOTHING = { send: false, delete: false, restore: false };

t.test(
  'what decides about nobody is not counted, and a refused unit leaves the version as it was',
  async t => {
    const store = await withStore(t);
    const before = store.read(accessVersion);
    await store.write(writer => writer.put(linesTable, 'a line', 'of no account'));
    t.equal(store.read(accessVersion), before);
    const refused = store.write(writer => {
      writer.put(inboxesTable, inbox.id, inbox);
      t.ok(accessVersion(writer) > before, 'the unit itself sees it');
      throw new Error('refused');
    });
    await t.rejects(refused, /refused/);
    t.equal(store.read(accessVersion), before);
  },
);
