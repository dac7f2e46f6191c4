import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { MAX_MEMBERS, parseStrictJson } from '../../../../src/http/server/strict-json.js';
import { atOnce } from '../../../support/at-once.js';

const parseBytes = (bytes: Uint8Array) => atOnce(parseStrictJson(bytes));
const parse = (text: string) => parseBytes(Buffer.from(text));

/** JSON as a tree that may hold a key twice, which values of the language cannot. */
type Tree = { list: Tree[] } | { members: [string, Tree][] } | { value: unknown };

const { tree } = fc.letrec<{ tree: Tree }>(tie => ({
  tree: fc.oneof(
    { maxDepth: 5, depthSize: 'medium' },
    fc.record({
      value: fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.integer(),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.boolean(),
        fc.constant(null),
      ),
    }),
    fc.record({ list: fc.array(tie('tree'), { maxLength: 4 }) }),
    fc.record({
      members: fc.array(fc.tuple(fc.constantFrom('a', 'b', '"', '\\', 'é', '__proto__'), tie('tree')), {
        maxLength: 4,
      }),
    }),
  ),
}));

function write(node: Tree, space: string): string {
  if ('value' in node) return JSON.stringify(node.value);
  if ('list' in node)
    return `[${space}${node.list.map(item => write(item, space)).join(`${space},${space}`)}${space}]`;
  const members = node.members.map(
    ([key, value]) => `${JSON.stringify(key)}${space}:${space}${write(value, space)}`,
  );
  return `{${space}${members.join(`${space},${space}`)}${space}}`;
}

/** The naive model: no object gives a key two different values. */
function isUnambiguous(node: Tree): boolean {
  if ('value' in node) return true;
  if ('list' in node) return node.list.every(isUnambiguous);
  return node.members.every(
    ([key, value], index) =>
      isUnambiguous(value) &&
      node.members
        .slice(0, index)
        .every(
          ([other, earlier]) =>
            other !== key || isDeepStrictEqual(JSON.parse(write(earlier, '')), JSON.parse(write(value, ''))),
        ),
  );
}

t.test('an object means what JSON.parse says, unless a key has two values', async t => {
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(tree, fc.constantFrom('', ' ', '\n\t\r '), (node, space) => {
        const text = space + write(node, space) + space;
        const expected = 'members' in node && isUnambiguous(node) ? JSON.parse(text) : null;
        return isDeepStrictEqual(parse(text), expected);
      }),
      { numRuns: 2000 },
    ),
  );
});

t.test('what JSON.parse refuses, arrays and scalars are refused', async t => {
  for (const text of [
    '',
    ' ',
    '[]',
    '1',
    '"x"',
    'null',
    'true',
    '{',
    '{"a":1,}',
    "{'a':1}",
    '{}{}',
    '{"a":01}',
    '{"a":NaN}',
    '{"a":"\n"}',
    '{/**/}',
  ]) {
    t.equal(parse(text), null, JSON.stringify(text));
  }
});

t.test('nesting may be 64 deep', async t => {
  const nested = (depth: number) => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;
  t.not(parse(nested(64)), null);
  t.equal(parse(nested(65)), null);
  t.equal(parse('{"a":'.repeat(100_000)), null);
  t.not(parse(`{"a":"${'['.repeat(1000)}"}`), null, 'brackets in a string are no nesting');
  t.not(parse(`{"a":[${'[],'.repeat(1000)}[]]}`), null, 'neither are neighbours');
});

t.test('commas and opening brackets are counted', async t => {
  const list = (members: number) => `{"a":[${'1,'.repeat(members - 1)}1]}`;
  t.not(parse(list(MAX_MEMBERS - 1)), null);
  t.equal(parse(list(MAX_MEMBERS)), null);
  t.equal(parse(`{"a":[${'[],'.repeat(MAX_MEMBERS / 2)}[]]}`), null);
  t.equal(parse(`{${'"a":1,'.repeat(MAX_MEMBERS)}"a":1}`), null);
  t.not(parse(`{"a":"${',['.repeat(MAX_MEMBERS)}"}`), null, 'not those in a string');
});

/** Text that is nearly JSON: JSON with some characters put in, taken away or doubled. */
const nearlyJson = fc
  .tuple(
    tree,
    fc.constantFrom('', ' ', '\n'),
    fc.array(
      fc.tuple(
        fc.nat(),
        fc.nat(2),
        fc.constantFrom(
          '',
          '"',
          '\\',
          '{',
          '}',
          '[',
          ']',
          ',',
          ':',
          '\\u00',
          '1',
          '-',
          '.',
          'e',
          '\0',
          'é',
          '\ufeff',
        ),
      ),
      { maxLength: 3 },
    ),
  )
  .map(([node, space, edits]) => {
    let text = write(node, space);
    for (const [place, removed, added] of edits) {
      const at = place % (text.length + 1);
      text = text.slice(0, at) + added + text.slice(at + removed);
    }
    return text;
  });

t.test('nothing is read that JSON.parse refuses, and what is read means the same', async t => {
  const outcomes = { read: 0, refused: 0 };
  fc.assert(
    fc.property(nearlyJson, text => {
      const value = parse(text);
      outcomes[value === null ? 'refused' : 'read']++;
      // Half of a surrogate pair does not survive UTF-8.
      return value === null || isDeepStrictEqual(value, JSON.parse(Buffer.from(text).toString()));
    }),
    { numRuns: 5000 },
  );
  t.ok(outcomes.read > 50 && outcomes.refused > 50, 'both happen', outcomes);
});

t.test('a pause may come anywhere', async t => {
  // The scan pauses behind each 256 KiB, the decoder as well: every kind of byte stands there once.
  const piece = '{"k\\\\":"é漢😀\\"\\u0041",  "l" : [ -1.5e3 , {"k":"é"} ] }';
  for (let shift = 0; shift < Buffer.byteLength(piece); shift++) {
    const head = `{"a":"${'x'.repeat(256 * 1024 - 10 - shift)}","b":[`;
    const text = `${head}${`${piece},`.repeat(3)}1]}`;
    t.strictSame(parse(text), JSON.parse(text), `${shift}`);
    t.equal(parse(text.slice(0, -1)), null);
  }
  t.equal(parse(`{"a":"${'x'.repeat(600_000)}`), null, 'a string without an end');
});

t.test('bytes must be UTF-8 without a byte-order mark', async t => {
  t.equal(parseBytes(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from('{}')])), null);
  t.equal(parseBytes(Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d])), null);
  t.equal(parseBytes(Buffer.from('{"a":1}', 'utf16le')), null);
  t.equal(parseBytes(Buffer.from('{"a":"\xed\xa0\x80"}', 'latin1')), null, 'a surrogate in UTF-8');
});

t.test('a key spelt in two ways is one key', async t => {
  t.equal(parse('{"a":1,"\\u0061":2}'), null);
  t.strictSame(parse('{"a":1,"\\u0061":1.0}'), { a: 1 });
  t.equal(parse('{"a":{"b":1},"a":{"b":2}}'), null);
  t.strictSame(parse('{"a":{"b":1,"c":[2]},"a": {"c":[2.0],"\\u0062":1}}'), { a: { c: [2], b: 1 } });
  t.equal(parse('{"é":1,"\\u00e9":2}'), null);
  t.equal(parse('{"\\ud83d\\ude00":1,"😀":2}'), null);
  t.equal(parse('{"a":1,"a":1,"a":2}'), null, 'the third of three');
  t.equal(parse('{"x":[{"a":1,"a":[]}]}'), null, 'at any depth');
  t.strictSame(parse('{"a\\\\":1,"a":2}'), { 'a\\': 1, a: 2 });
});

t.test('a string of eight megabytes is no burden', async t => {
  for (const piece of ['A', '\\n', '\\\\', '\\"', 'é', '\\u0041']) {
    const text = `{"a":"${piece.repeat(8_000_000 / piece.length)}"}`;
    t.ok(isDeepStrictEqual(parse(text), JSON.parse(text)), piece);
  }
});
