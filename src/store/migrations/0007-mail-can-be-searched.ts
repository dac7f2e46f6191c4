import type { InboxId } from '../../domain/ids.js';
import { range, WHOLE_TABLE } from '../engine/keys.js';
import type { Table, Writer } from '../engine/tables.js';
import { bytesKey, rawValue } from '../engine/tables.js';
import { folderCountersTable, folderOfKey } from '../mailbox/folders.js';
import { getInbox } from '../records/inboxes.js';
import { beginRebuild, getSearch } from '../records/search.js';
import type { Migration } from './0001-initial-schema.js';

/** The keys are all that is read. */
const folderKeys: Table<Buffer, Buffer> = {
  name: folderCountersTable.name,
  encodeKey: bytesKey,
  ...rawValue,
};

/** Folders of one unit. */
const PER_UNIT = 500;

/** Every account that has mail gets a search index, which is made from what is stored once a daemon runs. */
export const mailCanBeSearched: Migration = {
  name: 'mail can be searched',
  up: () => {},
  more: (writer, nowMs, position) => {
    const keys = writer.scanKeys(folderKeys, { ...range(WHOLE_TABLE, position), limit: PER_UNIT });
    for (const key of keys) plan(writer, folderOfKey(key).inboxId, nowMs);
    return keys.length < PER_UNIT ? null : (keys.at(-1) ?? null);
  },
};

function plan(writer: Writer, inboxId: InboxId, nowMs: number): void {
  const inbox = getInbox(writer, inboxId);
  if (inbox === undefined || getSearch(writer, inbox.accountId) !== undefined) return;
  beginRebuild(writer, inbox.accountId, 'mail from before there was a search index', nowMs);
}
