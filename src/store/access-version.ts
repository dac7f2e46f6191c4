import { u48 } from './key-codec.js';
import type { Reader, Writer } from './reader-writer.js';
import type { Table } from './table.js';

/**
 * Counts every change, by any process, of the tables that decide who may do what (`decidesAccess`): the
 * writer does it by itself. What was found out about access at one version holds for as long as a fresh
 * read gives that version again.
 */
export const accessVersionTable: Table<null, number> = {
  name: 'access_version',
  encodeKey: () => ONLY_KEY,
  encodeValue: u48,
  decodeValue: bytes => bytes.readUIntBE(0, 6),
};

const ONLY_KEY = Buffer.of(0);

export function accessVersion(reader: Reader): number {
  return reader.get(accessVersionTable, null) ?? 0;
}

export function countAccessChange(writer: Writer): void {
  writer.put(accessVersionTable, null, accessVersion(writer) + 1);
}
