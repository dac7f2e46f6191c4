import type { Writer } from '../../../../src/store/engine/tables.js';

/** A writer that counts what is asked of it: a bound on work that no clock can tell. */
export function countingWriter(writer: Writer): { readonly writer: Writer; readonly count: () => number } {
  let count = 0;
  const counted = <Key extends 'get' | 'has' | 'scan' | 'scanKeys' | 'put' | 'remove' | 'update'>(
    name: Key,
  ): Writer[Key] =>
    ((...args: Parameters<Writer[Key]>) => {
      count += 1;
      return (writer[name] as (...args: unknown[]) => unknown)(...args);
    }) as Writer[Key];
  return {
    writer: {
      isUnit: writer.isUnit,
      owe: bytes => writer.owe(bytes),
      announce: topic => writer.announce(topic),
      get: counted('get'),
      has: counted('has'),
      scan: counted('scan'),
      scanKeys: counted('scanKeys'),
      put: counted('put'),
      remove: counted('remove'),
      update: counted('update'),
    },
    count: () => count,
  };
}
