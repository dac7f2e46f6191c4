import t from 'tap';
import type { AccountId } from '../../../../src/domain/ids.js';
import { learnOfRecipient } from '../../../../src/usecases/inboxes/suppressions.js';
import { cliBox } from '../cli-box.js';

interface Page {
  readonly suppressions: readonly { readonly address: string }[];
  readonly next_cursor: string | null;
}

t.test('an address is suppressed, listed and taken off the list in any letter case', async t => {
  const box = await cliBox(t);
  t.same(await box.json('suppression', 'list'), { suppressions: [], next_cursor: null });
  t.equal((await box.run('suppression', 'list')).out, 'Nothing is suppressed.\n');
  const added = await box.json('suppression', 'add', 'Ann@Example.com', '--reason', 'bounced twice');
  t.same(Object.keys(added), ['address', 'account_id', 'email', 'source', 'reason', 'created_at', 'until']);
  t.match(added, { address: 'ann@example.com', source: 'operator', reason: 'bounced twice', until: null });
  t.same(await box.json('suppression', 'add', 'ann@EXAMPLE.com'), added, 'again is no other');
  t.same(await box.json('suppression', 'list'), { suppressions: [added], next_cursor: null });
  t.match(
    (await box.run('suppression', 'list')).out,
    /^ADDRESS .*\nann@example\.com +all +operator +\d{4}-\S+ +- +bounced twice\n$/,
  );
  t.same(await box.json('suppression', 'remove', 'ANN@example.com'), added);
  t.match(await box.failure('suppression', 'remove', 'ann@example.com'), {
    code: 4,
    error: { code: 'not_found', message: /^ann@example\.com is not suppressed/ },
  });
});

t.test('a long list is read page by page', async t => {
  const box = await cliBox(t);
  for (const name of ['c', 'a', 'b']) await box.json('suppression', 'add', `${name}@example.com`);
  const first = await box.json<Page>('suppression', 'list', '--limit', '2');
  const rest = await box.json<Page>('suppression', 'list', '--limit', '2', '--cursor', first.next_cursor!);
  const addresses = [...first.suppressions, ...rest.suppressions].map(({ address }) => address);
  t.same(addresses, ['a@example.com', 'b@example.com', 'c@example.com']);
  t.equal(rest.next_cursor, null);
  const text = (await box.run('suppression', 'list', '--limit', '2')).out;
  t.ok(text.endsWith(`There are more: add --cursor ${first.next_cursor}\n`));
  t.match(await box.failure('suppression', 'list', '--cursor', 'x'), {
    code: 1,
    error: { code: 'invalid_cursor' },
  });
});

t.test('what is no address is not suppressed', async t => {
  const box = await cliBox(t);
  for (const bad of ['ann', '', 'Ann <ann@example.com>']) {
    t.match(
      await box.failure('suppression', 'add', bad),
      { code: 1, error: { code: 'invalid_request' } },
      bad,
    );
  }
  t.match(await box.failure('suppression', 'add', 'a@b.example', '--reason', 'two\nlines'), { code: 1 });
  t.match(await box.failure('suppression', 'remove', ''), { code: 4 });
  t.match(await box.failure('suppression', 'list', '--limit', '0'), { code: 2 });
  t.same((await box.json<Page>('suppression', 'list')).suppressions, []);
});

t.test('what an account has learnt is listed with its reason, and lifted for that account', async t => {
  const box = await cliBox(t);
  const account = await box.json<{ account_id: AccountId }>('account', 'create', 'owner@example.com');
  await box.withStore(store =>
    store.write(writer =>
      learnOfRecipient(writer, {
        accountId: account.account_id,
        recipient: 'gone@example.net',
        source: 'report',
        status: '5.1.1',
        diagnostic: '550 5.1.1 nobody',
        at: Date.now(),
      }),
    ),
  );
  await box.json('suppression', 'add', 'gone@example.net');
  const ofAccount = ['--account', 'owner@example.com'];
  const { suppressions } = await box.json<Page>('suppression', 'list', ...ofAccount);
  t.match(suppressions, [
    {
      address: 'gone@example.net',
      account_id: account.account_id,
      email: 'owner@example.com',
      source: 'report',
      reason: '5.1.1: 550 5.1.1 nobody',
      until: /^\d{4}-/,
    },
  ]);
  t.equal((await box.json<Page>('suppression', 'list')).suppressions.length, 2);
  const text = (await box.run('suppression', 'list')).out;
  t.match(text, /^gone@example\.net +owner@example\.com +report +\S+ +\S+ +5\.1\.1: 550 5\.1\.1 nobody$/m);
  t.match(await box.json('suppression', 'remove', 'Gone@example.net', ...ofAccount), suppressions[0]);
  t.match(await box.failure('suppression', 'remove', 'gone@example.net', ...ofAccount), {
    code: 4,
    error: { code: 'not_found', message: /is not suppressed for owner@example\.com/ },
  });
  t.match(await box.failure('suppression', 'remove', 'gone@example.net', '--account', 'nobody@example.com'), {
    code: 4,
    error: { message: /There is no account nobody@example\.com/ },
  });
  t.match((await box.json<Page>('suppression', 'list')).suppressions, [{ account_id: null }]);
});
