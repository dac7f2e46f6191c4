import t from 'tap';
import { PageCache } from '../../../../src/http/server/list-page.js';

t.test('a page is given again for the version it was made of, and for no other', t => {
  const pages = new PageCache(10_000);
  const bytes = Buffer.from('page');
  pages.set('inbox?limit=2', '7', bytes);
  t.equal(pages.get('inbox?limit=2', '7'), bytes);
  t.equal(pages.get('inbox?limit=2', '8'), undefined, 'the mailbox has changed');
  t.equal(pages.get('inbox?limit=2', '6'), undefined, 'a mailbox of the same name from before');
  t.equal(pages.get('inbox?limit=3', '7'), undefined, 'another question');
  pages.set('inbox?limit=2', '8', Buffer.from('newer'));
  t.equal(pages.get('inbox?limit=2', '8')?.toString(), 'newer');
  t.end();
});

t.test('it is bounded, and what was not asked for longest goes first', t => {
  const pages = new PageCache(3_000);
  for (const name of ['a', 'b', 'c']) pages.set(name, '1', Buffer.alloc(700));
  t.ok(pages.get('a', '1'), 'asked for again');
  pages.set('d', '1', Buffer.alloc(700));
  t.same(
    ['a', 'b', 'c', 'd'].filter(name => pages.get(name, '1') !== undefined),
    ['a', 'c', 'd'],
  );
  pages.set('huge', '1', Buffer.alloc(100_000));
  t.equal(pages.get('huge', '1'), undefined, 'larger than all of it');
  t.end();
});
