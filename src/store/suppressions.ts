import { toSuppressedAddress } from '../domain/suppression.js';
import { joinKey, text, u8 } from './key-codec.js';
import type { Reader, Writer } from './reader-writer.js';
import { jsonValue, type Table } from './table.js';

/** An address that nobody's agents may send to. */
export interface SuppressionRecord {
  /** As `toSuppressedAddress` gives it; the key. */
  readonly address: string;
  /** For the admin. */
  readonly reason: string | null;
  readonly createdAt: number;
}

/** Suppressed address -> what is known of it; the list of the whole box. */
export const suppressionsTable: Table<string, SuppressionRecord> = {
  name: 'suppressions',
  encodeKey: text,
  ...jsonValue<SuppressionRecord>(1),
};

/** Addresses are ASCII: behind every key. */
const END = Buffer.of(0xff);

/** `address` in any spelling. */
export function findSuppression(reader: Reader, address: string): SuppressionRecord | undefined {
  const suppressed = toSuppressedAddress(address);
  return suppressed === null ? undefined : reader.get(suppressionsTable, suppressed);
}

/** `address` in any spelling. */
export function isSuppressed(reader: Reader, address: string): boolean {
  return findSuppression(reader, address) !== undefined;
}

/** Those of the addresses that are suppressed, each once, as given. */
export function suppressedRecipients(reader: Reader, addresses: readonly string[]): string[] {
  return [...new Set(addresses)].filter(address => isSuppressed(reader, address));
}

/** A new entry, or a new version of one. */
export function putSuppression(writer: Writer, record: SuppressionRecord): void {
  writer.put(suppressionsTable, record.address, record);
}

/** Takes an entry off the list; `address` is that of a record. */
export function removeSuppression(writer: Writer, address: string): void {
  writer.remove(suppressionsTable, address);
}

/** Entries in the order of their addresses' bytes, those behind `after`. */
export function scanSuppressions(reader: Reader, after: string | null, limit: number): SuppressionRecord[] {
  const from = after === null ? Buffer.alloc(0) : joinKey(text(after), u8(0));
  return reader.scan(suppressionsTable, { from, to: END, limit }).map(entry => entry.value);
}
