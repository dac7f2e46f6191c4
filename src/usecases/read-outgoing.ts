import { type SentBodies, type SentRecord, sentContentsTable } from '../store/sent.js';
import type { Store } from '../store/store.js';
import type { OutgoingContent, OutgoingFile } from './outgoing-content.js';
import { readWholeBlob } from './read-whole-blob.js';

/**
 * What a sent message was made of, attribution included, from the store: at most 5 MiB.
 * @returns null when bytes are missing
 */
export async function readOutgoing(store: Store, record: SentRecord): Promise<OutgoingContent | null> {
  const bodies = await readSentBodies(store, record);
  if (bodies === null) return null;
  const files: OutgoingFile[] = [];
  for (const { id: _id, blob, ...description } of record.files) {
    const bytes = await readWholeBlob(store, blob);
    if (bytes === null) return null;
    files.push({ ...description, bytes });
  }
  const { to, cc, bcc, subject, inReplyTo, replyHeaders } = record;
  return {
    recipients: { to, cc, bcc },
    subject,
    text: bodies.text,
    html: bodies.html ?? null,
    files,
    replyTo: inReplyTo === null || replyHeaders === null ? null : { id: inReplyTo, headers: replyHeaders },
  };
}

/** Text and HTML of a sent message; null when they are missing. */
export async function readSentBodies(
  store: Store,
  { id, content }: Pick<SentRecord, 'id' | 'content'>,
): Promise<SentBodies | null> {
  const json =
    content.in === 'blob'
      ? await readWholeBlob(store, content.blob)
      : store.read(reader => reader.get(sentContentsTable, id));
  return json === null || json === undefined ? null : (JSON.parse(json.toString('utf8')) as SentBodies);
}
