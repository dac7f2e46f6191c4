import fc from 'fast-check';
import t from 'tap';
import { type Bounded, readBounded } from '../../../src/mcp/read-bounded.js';
import { MemoryInHand } from '../../../src/usecases/shared/in-hand.js';

const LEAST = 4_096;

/** Reads the JSON of a value that comes in pieces of these sizes. */
function read(
  value: object,
  bounds: { perText: number; texts: number; files: number },
  sizes: readonly number[],
) {
  const bytes = Buffer.from(JSON.stringify(value));
  const pieces: Buffer[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? bytes.length;
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return readBounded({ size: bytes.length, bytes: pieces }, bounds, null);
}

/** The first difference that is no cut: each string is whole, or the beginning of what it was and known as cut. */
function fault(was: unknown, is: unknown, answer: Bounded, perText: number): string | null {
  if (typeof was === 'string' && typeof is === 'string') {
    if (was.toWellFormed() === is.toWellFormed()) return answer.isCut(is) ? 'not cut' : null;
    if (!answer.isCut(is)) return 'cut without a word';
    // Half of a pair at the end is replaced.
    const kept = is.endsWith('\ufffd') ? is.slice(0, -1) : is;
    if (!was.toWellFormed().startsWith(kept)) return 'another string';
    return Buffer.byteLength(JSON.stringify(was)) > perText ? null : 'cut too early';
  }
  if (typeof was !== 'object' || was === null) return was === is ? null : 'another value';
  if (JSON.stringify(Object.keys(was)) !== JSON.stringify(Object.keys(is as object))) return 'other members';
  for (const [name, value] of Object.entries(was)) {
    const found = fault(value, (is as Record<string, unknown>)[name], answer, perText);
    if (found !== null) return `${name}: ${found}`;
  }
  return null;
}

const units = fc.constantFrom(
  'a',
  '"',
  '\\',
  '\n',
  '\u0001',
  'ü',
  '漢',
  '😀',
  '\ud83d',
  '{',
  ':',
  ',',
  'content',
);
const texts = fc
  .array(units, { maxLength: 60 })
  .chain(parts => fc.nat({ max: 40 }).map(times => parts.join('').repeat(times)));
const names = fc.constantFrom('text', 'html', 'subject', 'name', 'a:b', 'contents');
const values = fc.letrec(tie => ({
  value: fc.oneof(
    { maxDepth: 4 },
    texts,
    fc.integer(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(names, tie('value'), { maxKeys: 4 }),
  ),
})).value;

t.test('whatever it is and however it comes, strings are whole or beginnings', async t => {
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(names, values, { maxKeys: 4 }),
      fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 5 }),
      // Names of members are strings, too, and ours are short.
      fc.integer({ min: 8, max: 300 }),
      async (value, sizes, perText) => {
        const answer = await read(value, { perText, texts: 2 ** 20, files: 0 }, sizes);
        const found = fault(JSON.parse(JSON.stringify(value)), answer.value, answer, perText);
        if (found !== null) throw new Error(found);
      },
    ),
    { numRuns: 300 },
  );
  t.pass();
});

t.test('all strings together have a bound, and each a little even so', async t => {
  const value = { list: Array.from({ length: 20 }, (_one, index) => `${index % 10}`.repeat(10_000)) };
  const answer = await read(value, { perText: 10_000, texts: 50_000, files: 0 }, [4_096]);
  const lengths = (answer.value.list as string[]).map(text => text.length);
  t.strictSame(lengths, [...Array(4).fill(10_000), 10_000 - 4, ...Array(15).fill(LEAST)].slice(0, 20));
});

t.test('bytes of files have a bound of their own; what is beyond it is null', async t => {
  const file = (content: string) => ({ filename: 'content', content, type: 'x/y' });
  const value = {
    text: 'x'.repeat(100),
    files: [file('A'.repeat(60)), file('B'.repeat(60)), file(''), file('C')],
  };
  const answer = await read(value, { perText: 10_000, texts: 50_000, files: 100 }, [7]);
  const contents = (answer.value.files as { content: string | null }[]).map(({ content }) => content);
  t.strictSame(contents, ['A'.repeat(60), 'B'.repeat(40), '', null]);
  t.strictSame(
    contents.map(content => answer.isCut(content)),
    [false, true, false, false],
  );
  t.equal(answer.value.text, value.text);
});

t.test('many short strings, which are not cut, are counted as they are kept', async t => {
  const memory = new MemoryInHand(50);
  const addresses = Array.from({ length: 40_000 }, (_none, n) => ({
    name: '',
    address: `a${n}@example.org`,
  }));
  const bytes = Buffer.from(JSON.stringify({ to: addresses }));
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
  }
  const hand = memory.hand('an account', 'internal_error');
  const bounds = { perText: 4_096, texts: 2 ** 17, files: 0 };
  const { value } = await readBounded({ size: bytes.length, bytes: pieces() }, bounds, hand);
  t.strictSame(value, { to: addresses });
  t.ok(
    memory.work.taken >= bytes.length - 65_536,
    `${memory.work.taken} of ${bytes.length} bytes are counted`,
  );
  hand.letGo();
  t.equal(memory.work.taken, 0);
});
