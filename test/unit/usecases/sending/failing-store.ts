import { NoRoomError } from '../../../../src/store/engine/room.js';
import { type Store, StoreFailedError } from '../../../../src/store/engine/store.js';

export interface FailingStore {
  readonly store: Store;
  /** Units of work so far. */
  readonly writes: () => number;
}

/**
 * A store whose disk fails at one unit of work, which is `lost` or `landed` on the disk after all (the failure came
 * behind it). As the real one it refuses every later unit.
 */
export function failingAt(store: Store, at: number, fate: 'lost' | 'landed'): FailingStore {
  const failure = new StoreFailedError(new Error('EIO'));
  return withUnits(store, async (number, unit) => {
    if (number > at || (number === at && fate === 'lost')) throw failure;
    const result = await unit();
    if (number === at) throw failure;
    return result;
  });
}

/** A store that has no room for one unit of work, which is rolled back; there is room again behind it. */
export function fullAt(store: Store, at: number): FailingStore {
  return withUnits(store, async (number, unit) => {
    if (number === at) throw new NoRoomError();
    return unit();
  });
}

/** A store with somebody between it and its units of work, the first of which is number 1. */
function withUnits(
  store: Store,
  between: (number: number, unit: () => Promise<unknown>) => Promise<unknown>,
): FailingStore {
  let writes = 0;
  const write = (...unit: Parameters<Store['write']>): Promise<unknown> => {
    writes += 1;
    return between(writes, () => store.write(...unit));
  };
  const failing = new Proxy(store, {
    get(target, name) {
      if (name === 'write') return write;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { store: failing, writes: () => writes };
}
