import t from 'tap';
import { startWordKernel } from '../../../../src/store/bitmap/word-kernel.js';

const BYTES = 8176;

t.test('its arrays are apart from each other, and there are so many', async t => {
  const kernel = startWordKernel(BYTES, 20)!;
  const arrays = Array.from({ length: 20 }, () => kernel.take()!);
  for (const [n, words] of arrays.entries()) {
    t.equal(kernel.count(words), 0, 'empty at first');
    words.fill(n + 1);
  }
  for (const [n, words] of arrays.entries()) t.ok(words.every(word => word === n + 1) && kernel.holds(words));
  t.equal(kernel.take(), null);
  t.notOk(kernel.holds(new Uint32Array(BYTES / 4)));
});

t.test('an operation touches every word of its arrays and none beside them', async t => {
  const kernel = startWordKernel(BYTES, 3)!;
  const [before, into, behind] = [kernel.take()!, kernel.take()!, kernel.take()!];
  const all = 0xffff_ffff;
  for (const array of [before, into, behind]) array.fill(all);
  t.equal(kernel.count(into), 8 * BYTES);
  t.equal(kernel.keep(into, before), true);
  t.equal(kernel.count(into), 8 * BYTES, 'all of all');
  for (const at of [0, 1, 2043]) {
    into.fill(0);
    into[at] = 0x8000_0001;
    t.equal(kernel.count(into), 2);
    t.equal(kernel.keep(into, before), true, `one word is enough: ${at}`);
  }
  t.equal(kernel.drop(into, before), false, 'nothing is left');
  t.equal(kernel.count(into), 0);
  t.equal(kernel.keep(into, before), false);
  t.equal(kernel.count(before) + kernel.count(behind), 2 * 8 * BYTES);
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
