/**
 * Did LMDB refuse a put because its map is full? The unit of work that met it has been rolled back. Rare:
 * lmdb-js makes the map larger, and `room.ts` refuses mail long before that.
 */
export function isMapFull(error: unknown): boolean {
  return error instanceof Error && error.message.includes('MDB_MAP_FULL');
}
