import fc from 'fast-check';
import t from 'tap';
import { readLimit, readQuery } from '../../../src/http/query.js';

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
  const limit = (text: string) => readLimit(new Map([['limit', text]]));
  t.strictSame(readLimit(new Map()), { ok: true, value: 20 });
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
