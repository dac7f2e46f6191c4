/**
 * The loops over the words of blocks in which pages and counts spend their time, in WebAssembly: 128 bits an
 * instruction, a tenth of the time of the same loops in JavaScript (`bit-block.ts` has those, for where there
 * is no such thing). They work on memory of their own, which has room for so many arrays of words.
 *
 * The module is put together here, instruction by instruction: WebAssembly core specification 2.0, section 5
 * (binary format).
 */
export interface WordKernel {
  /** An array that nobody has yet, all zero; null when there is none left. */
  readonly take: () => Uint32Array | null;
  /** Is this one of them? The loops take no other. */
  readonly holds: (words: Uint32Array) => boolean;
  /** Keeps in `into` what is in `words` too; false when nothing is left. */
  readonly keep: (into: Uint32Array, words: Uint32Array) => boolean;
  /** Takes out of `into` what is in `words`; false when nothing is left. */
  readonly drop: (into: Uint32Array, words: Uint32Array) => boolean;
  /** How many bits are set. */
  readonly count: (words: Uint32Array) => number;
}

/** What is used of WebAssembly; the types of Node do not tell of it. */
interface Engine {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: Exports };
}

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly keep: (into: number, other: number) => number;
  readonly drop: (into: number, other: number) => number;
  readonly count: (words: number) => number;
}

/** An array begins every so many bytes. */
const STRIDE = 8192;
const PAGE = 65_536;

/**
 * @param bytes length of an array: a multiple of 112, up to 8,192
 * @param arrays how many; the machine gives memory to those that are used
 * @returns null where there is no WebAssembly, or none with vector instructions
 */
export function startWordKernel(bytes: number, arrays: number): WordKernel | null {
  const exports = instantiate(bytes, Math.ceil((arrays * STRIDE) / PAGE));
  if (exports === null) return null;
  const { buffer } = exports.memory;
  let taken = 0;
  return {
    take: () => (taken < arrays ? new Uint32Array(buffer, STRIDE * taken++, bytes / 4) : null),
    holds: words => words.buffer === buffer,
    keep: (into, words) => exports.keep(into.byteOffset, words.byteOffset) !== 0,
    drop: (into, words) => exports.drop(into.byteOffset, words.byteOffset) !== 0,
    count: words => exports.count(words.byteOffset),
  };
}

function instantiate(bytes: number, pages: number): Exports | null {
  const engine = (globalThis as { readonly WebAssembly?: Engine }).WebAssembly;
  if (engine === undefined) return null;
  try {
    return new engine.Instance(new engine.Module(moduleOf(bytes, pages))).exports;
  } catch {
    return null;
  }
}

type Code = readonly (number | Code)[];

const I32 = 0x7f;
const V128 = 0x7b;

const local = {
  get: (index: number): Code => [0x20, index],
  set: (index: number): Code => [0x21, index],
  tee: (index: number): Code => [0x22, index],
};
const i32 = {
  const: (value: number): Code => [0x41, leb128(value)],
  lessThan: 0x49,
  add: 0x6a,
};
/** With the alignment of 16 bytes and an offset. */
const load = (offset: number): Code => [0xfd, 0x00, 4, offset];
const store = (offset: number): Code => [0xfd, 0x0b, 4, offset];
const v128 = {
  and: [0xfd, 0x4e],
  andNot: [0xfd, 0x4f],
  or: [0xfd, 0x50],
  anyTrue: [0xfd, 0x53],
} as const;
/** Bits set in each byte, then the sums of twos of bytes and of twos of those: four sums. */
const sumsOfBits: Code = [0xfd, 0x62, 0xfd, 0x7d, 0xfd, 0x7f];
const addSums: Code = [0xfd, 0xae, 0x01];
const sum = (lane: number): Code => [0xfd, 0x1b, lane];

/** Vectors of 16 bytes that a turn of a loop takes: less of the time goes into the loop itself. */
const UNROLLED = 7;

/** `at` runs over the bytes of an array, `others` beside it. */
function loop(bytes: number, at: number, end: number, others: readonly number[], step: Code): Code {
  const advance = (index: number): Code => [local.get(index), i32.const(16 * UNROLLED), i32.add];
  return [
    [local.get(at), i32.const(bytes), i32.add, local.set(end)],
    [0x03, 0x40],
    step,
    others.map(other => [advance(other), local.set(other)]),
    // Once more, unless it is at the end.
    [advance(at), local.tee(at), local.get(end), i32.lessThan, 0x0d, 0],
    0x0b,
  ];
}

const unrolled = (step: (offset: number) => Code): Code =>
  Array.from({ length: UNROLLED }, (_, n) => step(16 * n));

/** (into, other) -> is anything left: combines two arrays in the first. */
function combine(bytes: number, operation: Code): Code {
  const [into, other, end, left, result] = [0, 1, 2, 3, 4];
  const step = unrolled(offset => [
    local.get(into),
    [local.get(into), load(offset), local.get(other), load(offset), operation],
    [local.tee(result), store(offset)],
    [local.get(left), local.get(result), v128.or, local.set(left)],
  ]);
  const locals = [2, [1, I32], [2, V128]];
  return [locals, loop(bytes, into, end, [other], step), local.get(left), v128.anyTrue, 0x0b];
}

/** (words) -> how many bits are set. */
function count(bytes: number): Code {
  const [words, end, sums] = [0, 1, 2];
  const step = unrolled(offset => [
    [local.get(words), load(offset), sumsOfBits],
    [local.get(sums), addSums, local.set(sums)],
  ]);
  const total = [1, 2, 3].map(lane => [local.get(sums), sum(lane), i32.add]);
  const locals = [2, [1, I32], [1, V128]];
  return [locals, loop(bytes, words, end, [], step), local.get(sums), sum(0), total, 0x0b];
}

function moduleOf(bytes: number, pages: number): Uint8Array {
  const binary = [I32, I32];
  const name = (text: string): Code => sized([...Buffer.from(text)]);
  return Uint8Array.from(
    flatten([
      [...Buffer.from('\0asm'), 1, 0, 0, 0],
      // Types of functions, the type of each, the size of the memory, names for outside, code.
      section(1, [2, [0x60, 2, binary, 1, I32], [0x60, 1, I32, 1, I32]]),
      section(3, [3, 0, 0, 1]),
      section(5, [1, 0, leb128(pages)]),
      section(7, [4, name('memory'), 2, 0, name('keep'), 0, 0, name('drop'), 0, 1, name('count'), 0, 2]),
      section(10, [
        3,
        sized(combine(bytes, v128.and)),
        sized(combine(bytes, v128.andNot)),
        sized(count(bytes)),
      ]),
    ]),
  );
}

const flatten = (code: Code): number[] =>
  code.flatMap(part => (typeof part === 'number' ? part : flatten(part)));

const section = (id: number, body: Code): Code => [id, sized(body)];

function sized(body: Code): Code {
  const bytes = flatten(body);
  return [leb128(bytes.length), bytes];
}

/** A natural number, in the form that is right for numbers with a sign and for those without. */
function leb128(value: number): number[] {
  return value < 0x40 ? [value] : [(value & 0x7f) | 0x80, ...leb128(value >> 7)];
}
