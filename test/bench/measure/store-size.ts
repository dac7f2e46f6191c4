import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { storeFolder } from '../../../src/store/engine/store.js';
import type { Reader } from '../../../src/store/engine/tables.js';
import { messagesTable, type ReceivedRecord } from '../../../src/store/mailbox/messages.js';

const EVERYTHING = { from: Buffer.alloc(0), to: Buffer.alloc(64, 0xff), limit: 1_000_000 };

/** Bytes of mail in a store: raw messages and contents. */
export function liveBytes(reader: Reader): number {
  return reader.scan(messagesTable, EVERYTHING).reduce((sum, { value }) => sum + mailBytes(value), 0);
}

function mailBytes({ raw, content }: ReceivedRecord): number {
  return raw.size + (content?.size ?? 0);
}

/** Bytes on disk of the store in a data directory; a file may be larger than what was ever written to it. */
export function storeDiskBytes(dataFolder: string): number {
  const folder = storeFolder(dataFolder);
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).blocks * 512, 0);
}
