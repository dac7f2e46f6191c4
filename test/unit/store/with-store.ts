import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { Purpose } from '../../../src/store/engine/room.js';
import type { Store, StoreOptions } from '../../../src/store/engine/store.js';
import { openMigratedStore } from '../../../src/store/open-store.js';

/** A data directory that is gone after the test. */
export function dataDirectory(t: Test): string {
  const path = mkdtempSync(join(tmpdir(), 'postern-store-'));
  t.teardown(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

export function storeOptions(path: string, options: Partial<StoreOptions> = {}): StoreOptions {
  return { path, mapSizeBytes: 2 ** 30, diskFloorBytes: 0, ...options };
}

/** From now on the store has no room, as on a disk at its floor. */
export function takeRoom(store: Store): void {
  const hasRoomFor = (_bytes: number, purpose: Purpose = 'add'): boolean => purpose === 'settle';
  Object.defineProperty(store.room, 'hasRoomFor', { value: hasRoomFor, configurable: true });
}

/** It has room again. */
export function giveRoom(store: Store): void {
  Reflect.deleteProperty(store.room, 'hasRoomFor');
}

/** A migrated store of its own for one test. */
export async function withStore(t: Test, options: Partial<StoreOptions> = {}): Promise<Store> {
  const store = await openMigratedStore(storeOptions(options.path ?? dataDirectory(t), options));
  t.teardown(() => store.close());
  return store;
}
