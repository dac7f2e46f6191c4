import type { Random } from './random.js';

type Mutation = (bytes: Buffer, random: Random, tokens: readonly string[]) => Buffer;

const splice = (bytes: Buffer, from: number, to: number, by: Buffer): Buffer =>
  Buffer.concat([bytes.subarray(0, from), by, bytes.subarray(to)]);

function range(bytes: Buffer, random: Random): [number, number] {
  const from = random.below(bytes.length + 1);
  return [from, Math.min(bytes.length, from + 1 + random.below(random.oneIn(4) ? 400 : 12))];
}

const mutations: readonly Mutation[] = [
  (bytes, random) => {
    const copy = Buffer.from(bytes);
    if (copy.length > 0) copy[random.below(copy.length)] = random.below(256);
    return copy;
  },
  (bytes, random) => {
    const at = random.below(bytes.length + 1);
    return splice(bytes, at, at, random.bytes(1 + random.below(8)));
  },
  (bytes, random, tokens) => {
    const at = random.below(bytes.length + 1);
    return splice(bytes, at, at, Buffer.from(random.pick(tokens).repeat(1 + random.below(3)), 'latin1'));
  },
  (bytes, random, tokens) =>
    splice(bytes, ...range(bytes, random), Buffer.from(random.pick(tokens), 'latin1')),
  (bytes, random) => splice(bytes, ...range(bytes, random), Buffer.alloc(0)),
  (bytes, random) => {
    const [from, to] = range(bytes, random);
    const times = random.oneIn(20) ? 200 : 1 + random.below(3);
    return splice(bytes, to, to, Buffer.concat(Array(times).fill(bytes.subarray(from, to))));
  },
  (bytes, random) => {
    const [from, to] = range(bytes, random);
    const at = random.below(bytes.length + 1);
    return splice(bytes, at, at, bytes.subarray(from, to));
  },
  (bytes, random) => bytes.subarray(0, random.below(bytes.length + 1)),
];

/** Changes one to eight places: flips, inserts, duplicates, moves or removes bytes. */
export function mutate(bytes: Buffer, random: Random, tokens: readonly string[]): Buffer {
  let mutated = bytes;
  for (let left = 1 + random.below(8); left > 0; left--) {
    mutated = random.pick(mutations)(mutated, random, tokens);
  }
  return mutated;
}
