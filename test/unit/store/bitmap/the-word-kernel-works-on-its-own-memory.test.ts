import t from 'tap';
import { BLOCK_BITS, blockOfBytes } from '../../../../src/store/bitmap/bit-block.js';
import { startWordKernel } from '../../../../src/store/bitmap/word-kernel.js';
import { WordMemory, type Words } from '../../../../src/store/bitmap/words.js';

const BYTES = 8176;

/** What is read of a block whose words are all this one. */
const mapOf = (word: number) => blockOfBytes(Buffer.from(new Uint32Array(BYTES / 4).fill(word).buffer));

t.test('its places are apart from each other, and there are so many', async t => {
  for (const memory of [new WordMemory(20), new WordMemory(20, null)]) {
    const taken = Array.from({ length: 17 }, () => memory.take()!);
    const places: Words[] = [memory.result, memory.missed, memory.passing, ...taken];
    t.equal(new Set(places).size, 20);
    for (const [n, words] of places.entries()) {
      t.equal(memory.count(words), 0, 'empty at first');
      memory.load(words, mapOf(n + 1));
    }
    for (const [n, words] of places.entries()) t.ok(memory.copyOf(words).every(word => word === n + 1));
    t.equal(memory.take(), null);
  }
});

t.test('an operation touches every word of its arrays and none beside them', async t => {
  const memory = new WordMemory(3);
  const [before, into, behind] = [memory.result, memory.missed, memory.passing];
  for (const words of [before, into, behind]) memory.fill(words);
  t.equal(memory.count(into), BLOCK_BITS);
  t.equal(memory.keep(into, before), true);
  t.equal(memory.count(into), BLOCK_BITS, 'all of all');
  for (const at of [0, 1, 2043]) {
    const words = new Uint32Array(BYTES / 4);
    words[at] = 0x8000_0001;
    memory.load(into, blockOfBytes(Buffer.from(words.buffer)));
    t.equal(memory.count(into), 2);
    t.equal(memory.keep(into, before), true, `one word is enough: ${at}`);
  }
  t.equal(memory.drop(into, before), false, 'nothing is left');
  t.equal(memory.count(into), 0);
  t.equal(memory.keep(into, before), false);
  t.equal(memory.count(before) + memory.count(behind), 2 * BLOCK_BITS);
});

t.test('there is none where there is no WebAssembly, or one without vectors', async t => {
  const { WebAssembly } = globalThis as unknown as { WebAssembly: object };
  t.teardown(() => Object.assign(globalThis, { WebAssembly }));
  Object.assign(globalThis, { WebAssembly: undefined });
  t.equal(startWordKernel(BYTES, 3), null);
  const Module = class {
    constructor() {
      throw new Error('CompileError: invalid opcode');
    }
  };
  Object.assign(globalThis, { WebAssembly: { Module } });
  t.equal(startWordKernel(BYTES, 3), null);
});
