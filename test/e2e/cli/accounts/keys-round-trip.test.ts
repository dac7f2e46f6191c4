import t from 'tap';
import { authenticate } from '../../../support/use-cases.js';
import { cliBox } from '../cli-box.js';

interface Keys {
  readonly keys: { key_id: string; name: string | null; revoked_at: string | null }[];
}

t.test('a key is created, works, is listed without its credential, and is revoked', async t => {
  const box = await cliBox(t);
  const { account_id } = await box.json('account', 'create', 'ada@example.org');
  const key = await box.json('key', 'create', '--account', 'ada@example.org', '--name', 'laptop');
  t.same(Object.keys(key), ['key_id', 'credential']);
  t.match(key.credential, /^pst_[A-Za-z0-9_-]{43}$/);
  const owner = () => box.withStore(async store => authenticate({ store }, key.credential!)?.id);
  t.equal(await owner(), account_id);

  const list = await box.run('--json', 'key', 'list', '--account', account_id!);
  t.notMatch(list.out, key.credential!);
  const [listed] = (JSON.parse(list.out) as Keys).keys;
  t.same(listed, { ...listed, key_id: key.key_id, account_id, name: 'laptop', revoked_at: null });
  t.same(await box.json('key', 'list'), JSON.parse(list.out), 'without --account: of every account');

  const revoked = await box.json('key', 'revoke', key.key_id!);
  t.match(revoked, { key_id: key.key_id, revoked_at: String });
  t.equal(await owner(), undefined);
  t.same(await box.json('key', 'revoke', key.key_id!), revoked, 'once more changes nothing');
});

t.test('as text the credential comes with the advice to keep it', async t => {
  const box = await cliBox(t);
  await box.json('account', 'create', 'ada@example.org');
  const { out } = await box.run('key', 'create', '--account', 'ada@example.org');
  t.match(out, /^key_id {6}\S+\ncredential {2}pst_\S+\nKeep the credential/);
});

t.test('keys and accounts that are not there are exit code 4', async t => {
  const box = await cliBox(t);
  t.match(await box.failure('key', 'create', '--account', 'eve@example.org'), { code: 4 });
  t.match(await box.failure('key', 'list', '--account', 'eve@example.org'), { code: 4 });
  t.match(await box.failure('key', 'revoke', 'nonsense'), { code: 4, error: { code: 'not_found' } });
});
