import { fail, ok, type Result } from '../domain/errors.js';
import { getChunk } from '../store/blobs.js';
import type { SentRecord } from '../store/sent.js';
import type { Store } from '../store/store.js';
import type { ByteStream } from './byte-stream.js';
import { fillInFiles } from './files-as-json.js';
import { type MessageInput, ownedMessage, sentMessages } from './message-access.js';
import { readSentBodies } from './read-outgoing.js';
import { viewSent } from './sent-view.js';
import { withShownThread } from './shown-thread.js';

type Deps = { readonly store: Store };

const MISSING = fail('content_unavailable', 'The stored content cannot be read right now. Retry later.');

/** A sent message with its submission as JSON bytes (wire contract, `SentDetail`); files are streamed as base64. */
export async function getSentDetail(deps: Deps, input: MessageInput): Promise<Result<ByteStream>> {
  const owned = deps.store.read(reader => {
    const found = ownedMessage(reader, sentMessages, input.accountId, input.messageId);
    return found.ok ? ok(withShownThread(reader, found.value)) : found;
  });
  if (!owned.ok) return owned;
  const record = owned.value;
  const bodies = await readSentBodies(deps.store, record);
  if (bodies === null || !hasFiles(deps.store, record)) return MISSING;
  const { from, to, cc, bcc, subject } = record;
  const submission = { from, to, cc, bcc, subject, ...bodies, attachments: [], ...headersOf(record) };
  return ok(fillInFiles(JSON.stringify({ ...viewSent(record), submission }), record.files, deps.store));
}

/** The reply headers as they were transmitted; none of a message that answers nothing. */
function headersOf({ replyHeaders }: SentRecord): object {
  if (replyHeaders === null) return {};
  return { headers: { 'In-Reply-To': replyHeaders.inReplyTo, References: replyHeaders.references } };
}

function hasFiles(store: Store, { files }: SentRecord): boolean {
  return store.read(reader => files.every(({ blob }) => getChunk(reader, blob.id, 0) !== undefined));
}
