import t from 'tap';
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
  t.same(Object.keys(added), ['address', 'reason', 'created_at']);
  t.match(added, { address: 'ann@example.com', reason: 'bounced twice' });
  t.same(await box.json('suppression', 'add', 'ann@EXAMPLE.com'), added, 'again is no other');
  t.same(await box.json('suppression', 'list'), { suppressions: [added], next_cursor: null });
  t.match((await box.run('suppression', 'list')).out, /^ADDRESS .*\nann@example\.com +bounced twice +\d{4}-/);
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
