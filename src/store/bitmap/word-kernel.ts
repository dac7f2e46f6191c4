/**
 * The loops over the words of blocks in which pages and counts spend their time, in WebAssembly: 128 bits an
 * instruction, a quarter to a tenth of the time of the same loops in JavaScript (`words.ts` has those). Without them an
 * exact count over 65 labels of a million messages takes more than its limit of one millisecond.
 *
 * The module is put together here from instructions, by the names that they have in the text format. Numbers such as
 * 5.4 are sections of the WebAssembly core specification 2.0.
 */

/** Places are counted in bytes from the start of the memory. */
export interface WordLoops {
  /** Keeps in `into` what is in `other` too; 0 when nothing is left. */
  readonly keep: (into: number, other: number) => number;
  /** Takes out of `into` what is in `other`; 0 when nothing is left. */
  readonly drop: (into: number, other: number) => number;
  /** How many bits are set. */
  readonly count: (words: number) => number;
}

export interface WordKernel extends WordLoops {
  /** What the loops work on; all zero at first. */
  readonly memory: ArrayBuffer;
}

/** The part of WebAssembly that is used here; the types of Node do not declare it. */
interface Engine {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (
    module: object,
  ) => { readonly exports: WordLoops & { readonly memory: { readonly buffer: ArrayBuffer } } };
}

const PAGE_BYTES = 65_536;

/**
 * @param blockBytes length of what the loops run over: a multiple of 112
 * @param memoryBytes size of the memory; the operating system provides only what is used
 * @returns null where there is no WebAssembly, or none with vector instructions
 */
export function startWordKernel(blockBytes: number, memoryBytes: number): WordKernel | null {
  const engine = (globalThis as { readonly WebAssembly?: Engine }).WebAssembly;
  if (engine === undefined) return null;
  try {
    const bytes = moduleOf(blockBytes, Math.ceil(memoryBytes / PAGE_BYTES));
    const { memory, keep, drop, count } = new engine.Instance(new engine.Module(bytes)).exports;
    return { memory: memory.buffer, keep, drop, count };
  } catch {
    return null;
  }
}

/** The bytes that stand for an instruction (5.4); what it is given follows them. */
const OPCODES = {
  // Without a result.
  loop: [0x03, 0x40],
  end: [0x0b],
  br_if: [0x0d],
  'local.get': [0x20],
  'local.set': [0x21],
  'local.tee': [0x22],
  'i32.const': [0x41],
  'i32.lt_u': [0x49],
  'i32.add': [0x6a],
  'v128.load': [0xfd, 0x00],
  'v128.store': [0xfd, 0x0b],
  'v128.and': [0xfd, 0x4e],
  'v128.andnot': [0xfd, 0x4f],
  'v128.or': [0xfd, 0x50],
  'v128.any_true': [0xfd, 0x53],
  'i8x16.popcnt': [0xfd, 0x62],
  'i16x8.extadd_pairwise_i8x16_u': [0xfd, 0x7d],
  'i32x4.extadd_pairwise_i16x8_u': [0xfd, 0x7f],
  'i32x4.add': [0xfd, 0xae, 0x01],
  'i32x4.extract_lane': [0xfd, 0x1b],
} as const;

type Instruction = readonly [keyof typeof OPCODES, ...number[]];

/** Loads and stores name the alignment of their address, as a power of two: 16 bytes. */
const ALIGNED = 4;
const VECTOR_BYTES = 16;
/** Vectors that a turn of a loop takes: less of the time goes into the loop itself. */
const UNROLLED = 7;

/** `keep` and `drop`: (into, other) -> whether anything is left. */
function combine(blockBytes: number, operation: 'v128.and' | 'v128.andnot'): number[] {
  const [into, other, end, left, result] = [0, 1, 2, 3, 4];
  return functionOf({ i32: 1, v128: 2 }, [
    ...walk(blockBytes, [into, other], end, offset => [
      // result = into[offset] operation other[offset]
      ['local.get', into],
      ['local.get', into],
      ['v128.load', ALIGNED, offset],
      ['local.get', other],
      ['v128.load', ALIGNED, offset],
      [operation],
      ['local.tee', result],
      // into[offset] = result
      ['v128.store', ALIGNED, offset],
      // left |= result
      ['local.get', left],
      ['local.get', result],
      ['v128.or'],
      ['local.set', left],
    ]),
    ['local.get', left],
    ['v128.any_true'],
  ]);
}

/** `count`: (words) -> how many bits are set. */
function count(blockBytes: number): number[] {
  const [words, end, sums] = [0, 1, 2];
  return functionOf({ i32: 1, v128: 1 }, [
    ...walk(blockBytes, [words], end, offset => [
      // Bits set in each of 16 bytes, then the sums of twos of those, then of twos of these: four sums.
      ['local.get', words],
      ['v128.load', ALIGNED, offset],
      ['i8x16.popcnt'],
      ['i16x8.extadd_pairwise_i8x16_u'],
      ['i32x4.extadd_pairwise_i16x8_u'],
      // sums += the four
      ['local.get', sums],
      ['i32x4.add'],
      ['local.set', sums],
    ]),
    ['local.get', sums],
    ['i32x4.extract_lane', 0],
    ...[1, 2, 3].flatMap((lane): Instruction[] => [
      ['local.get', sums],
      ['i32x4.extract_lane', lane],
      ['i32.add'],
    ]),
  ]);
}

/** A loop in which the first of `places` runs over a block, and the others beside it. */
function walk(
  blockBytes: number,
  places: readonly [number, ...number[]],
  end: number,
  step: (offset: number) => Instruction[],
): Instruction[] {
  const [first, ...others] = places;
  const advanced = (place: number): Instruction[] => [
    ['local.get', place],
    ['i32.const', UNROLLED * VECTOR_BYTES],
    ['i32.add'],
  ];
  return [
    // end = first + blockBytes
    ['local.get', first],
    ['i32.const', blockBytes],
    ['i32.add'],
    ['local.set', end],
    ['loop'],
    ...Array.from({ length: UNROLLED }, (_, n) => step(n * VECTOR_BYTES)).flat(),
    ...others.flatMap((place): Instruction[] => [...advanced(place), ['local.set', place]]),
    // Once more, unless the first is at the end.
    ...advanced(first),
    ['local.tee', first],
    ['local.get', end],
    ['i32.lt_u'],
    ['br_if', 0],
    ['end'],
  ];
}

const I32 = 0x7f;
const V128 = 0x7b;

/** A function by how many locals it has besides its parameters, those of 32 bits first, and its body (5.5.13). */
function functionOf(locals: { readonly i32: number; readonly v128: number }, body: Instruction[]): number[] {
  const code = [...body, ['end'] as const].flatMap(([name, ...given]) => [
    ...OPCODES[name],
    ...given.flatMap(leb128),
  ]);
  return sized([2, locals.i32, I32, locals.v128, V128, ...code]);
}

function moduleOf(blockBytes: number, pages: number): Uint8Array {
  const [BINARY, UNARY] = [0, 1];
  const exported = (name: string, kind: number, index: number): number[] => [
    ...sized([...Buffer.from(name)]),
    kind,
    index,
  ];
  return Uint8Array.from([
    ...Buffer.from('\0asm'),
    ...[1, 0, 0, 0],
    // Types of functions: 0x60, parameters, results.
    ...section(1, [2, ...[0x60, 2, I32, I32, 1, I32], ...[0x60, 1, I32, 1, I32]]),
    // The type of each function.
    ...section(3, [3, BINARY, BINARY, UNARY]),
    // One memory, by how many pages it has.
    ...section(5, [1, 0, ...leb128(pages)]),
    // Names for outside, of the memory (kind 2) and the functions (kind 0).
    ...section(7, [
      4,
      ...exported('memory', 2, 0),
      ...exported('keep', 0, 0),
      ...exported('drop', 0, 1),
      ...exported('count', 0, 2),
    ]),
    // Code of the functions.
    ...section(10, [
      3,
      ...combine(blockBytes, 'v128.and'),
      ...combine(blockBytes, 'v128.andnot'),
      ...count(blockBytes),
    ]),
  ]);
}

const section = (id: number, body: number[]): number[] => [id, ...sized(body)];

const sized = (body: number[]): number[] => [...leb128(body.length), ...body];

/** A natural number, in the form that is right for numbers with a sign and for those without (5.2.2). */
function leb128(value: number): number[] {
  return value < 0x40 ? [value] : [(value & 0x7f) | 0x80, ...leb128(value >> 7)];
}
