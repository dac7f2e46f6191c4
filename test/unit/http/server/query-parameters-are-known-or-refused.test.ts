import fc from 'fast-check';
import t from 'tap';
import type { QuerySpec } from '../../../../src/contract/operation.js';
import { resultOf } from '../../../../src/domain/errors.js';
import { readLimit as limitOf, readQuery as queryFrom } from '../../../../src/http/server/query.js';
import type { Query } from '../../../../src/http/server/route.js';

const readQuery = (text: string, known: QuerySpec) => resultOf(() => queryFrom(text, known));
const readLimit = (query: Query) => resultOf(() => limitOf(query));

const queryOf = (...values: [string, string][]): Query => ({
  get: name => values.find(([known]) => known === name)?.[1],
  list: name => values.filter(([known]) => known === name).map(([, value]) => value),
});

const spec = { names: ['limit', 'cursor'], invalid: 'invalid_search' } as const;

t.test('each known parameter once', async t => {
  const query = readQuery('limit=7&cursor=a%2Bb+c', spec);
  t.ok(query.ok && query.value.get('limit') === '7' && query.value.get('cursor') === 'a+b c');
  for (const text of ['', '&', '&&']) t.match(readQuery(text, spec), { ok: true });
  for (const text of [
    'limti=7',
    'limit=7&limit=7',
    'LIMIT=7',
    '=',
    'limit=7&x',
    'limit[]=7',
    'cursor=&cursor=',
  ]) {
    t.match(readQuery(text, spec), { ok: false, failure: { code: 'invalid_search' } }, text);
  }
});

t.test('a limit is an integer from 1 to 100 in plain digits', async t => {
  const limit = (text: string) => readLimit(queryOf(['limit', text]));
  t.strictSame(readLimit(queryOf()), { ok: true, value: 20 });
  for (let n = 1; n <= 100; n++) t.strictSame(limit(String(n)), { ok: true, value: n });
  for (const text of [
    '',
    '0',
    '101',
    '01',
    '+1',
    '-1',
    ' 1',
    '1 ',
    '1.0',
    '1e1',
    '0x1',
    '١',
    '1000',
    'ten',
    '1\n',
  ]) {
    t.match(limit(text), { ok: false, failure: { code: 'invalid_limit' } }, JSON.stringify(text));
  }
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(fc.string(), text => limit(text).ok === (/^[1-9]\d*$/.test(text) && Number(text) <= 100)),
    ),
  );
});

t.test('a parameter that may be repeated keeps its values in order', async t => {
  const read = readQuery('labels=b&labels=a%2Cc&labels=b&labels=', {
    names: ['limit', 'prefix'],
    lists: ['labels'],
    invalid: 'invalid_search',
  });
  t.ok(read.ok);
  if (read.ok) {
    t.strictSame(read.value.list('labels'), ['b', 'a,c', 'b', ''], 'a comma is part of a value');
    t.strictSame(read.value.list('limit'), []);
    t.equal(read.value.get('limit'), undefined);
  }
});

t.test('a parameter may have a code of its own for being repeated', async t => {
  const names = { names: ['limit', 'prefix'], invalid: 'invalid_search' } as const;
  const read = (text: string) => readQuery(text, { ...names, codes: { prefix: 'invalid_labels' } });
  t.match(read('prefix=a&prefix=a'), { failure: { code: 'invalid_labels' } });
  t.match(read('limit=1&limit=1'), { failure: { code: 'invalid_search' } });
  t.match(read('prefx=a'), { failure: { code: 'invalid_search' } });
});
