import t from 'tap';
import { formatBytes, formatDuration, renderFields, renderTable } from '../../../src/cli/output.js';

t.test('columns are as wide as their widest cell on a terminal', async t => {
  const records = [
    { id: '1', name: '日本', at: 'x' },
    { id: '22', name: null, at: 'y' },
    { id: '3', name: 'e\u0301a', at: 'z' },
  ];
  t.equal(
    renderTable(records, ['id', 'name', 'at'], ''),
    ['ID  NAME  AT', '1   日本  x', '22  -     y', '3   e\u0301a    z', ''].join('\n'),
  );
});

t.test('a long cell is cut', async t => {
  const [, row] = renderTable([{ subject: 'x'.repeat(998), id: '1' }], ['subject', 'id'], '').split('\n');
  t.equal(row, `${'x'.repeat(71)}…  1`);
});

t.test('no records are told in words', async t => {
  t.equal(renderTable([], ['id'], 'No keys.'), 'No keys.\n');
});

t.test('fields line up', async t => {
  t.equal(
    renderFields({ id: 1, created_at: 'now', gone: null }),
    'id          1\ncreated_at  now\ngone        -\n',
  );
});

t.test('sizes and times are told in units a person knows', async t => {
  t.same([0, 1023, 1024, 1.5 * 2 ** 20, 128 * 2 ** 30].map(formatBytes), [
    '0 bytes',
    '1023 bytes',
    '1.0 KiB',
    '1.5 MiB',
    '128.0 GiB',
  ]);
  t.same([0, 59, 60, 3_661, 86_400, 273_600].map(formatDuration), [
    '0 s',
    '59 s',
    '1 min',
    '1 h 1 min',
    '1 d',
    '3 d 4 h',
  ]);
});
