import { type Authentication, shownAuthentication } from '../../domain/authentication.js';
import { notFound } from '../../domain/errors.js';
import type { Store } from '../../store/engine/store.js';
import type { Reader } from '../../store/engine/tables.js';
import { storedNewWords } from '../../store/mailbox/excerpts.js';
import { detailFields, type MessageRecord, type SentRecord, viewSent } from '../../store/mailbox/messages.js';
import { withShownThread } from '../../store/threads/names.js';
import { openAttachmentBytes } from '../shared/attachments.js';
import {
  type ByteStream,
  fillInFiles,
  inMemory,
  joinStreams,
  membersOf,
  openBlob,
  openContent,
  openNewWords,
} from '../shared/contents.js';
import { find, locate, type MessageInput, type Wanted } from './message-access.js';

type Deps = { readonly store: Store };

const RECEIVED: Wanted<'received'> = { kinds: ['received'], trash: 'live' };
const SENT: Wanted<'sent'> = { kinds: ['sent'], trash: 'live' };

/** A file to download. */
export interface Download extends ByteStream {
  /** Suggested file name; null when there is none that is safe. */
  readonly filename: string | null;
}

/**
 * The detail of a message as JSON bytes (`getMessage`). It has `content` only when the message is ready, and who has
 * written it only when that is asked for.
 */
export function getMessageDetail(
  deps: Deps,
  input: MessageInput & { readonly hasAuthentication?: boolean },
): ByteStream {
  const { record, newWords } = deps.store.read(reader => located(reader, locate(reader, input, RECEIVED)));
  const authentication =
    input.hasAuthentication === true ? { authentication: shownAuthentication(record) } : {};
  const fields = JSON.stringify({ ...detailFields(record), ...authentication });
  if (record.content === null) return inMemory([Buffer.from(fields)]);
  const head = Buffer.from(`${fields.slice(0, -1)},"content":`);
  return joinStreams([
    inMemory([head]),
    openContent(deps.store, record.content, newWords),
    inMemory([Buffer.from('}')]),
  ]);
}

/** A message with the conversation that it is shown in, and its new words as they are kept. */
function located<Kind extends MessageRecord>(
  reader: Reader,
  found: Kind,
): { readonly record: Kind; readonly newWords: string } {
  return { record: withShownThread(reader, found), newWords: storedNewWords(reader, found.id) };
}

/** Who has written a received message; undefined when the caller does not reach one of this id. */
export function authenticationOf(deps: Deps, input: MessageInput): Authentication | undefined {
  return deps.store.read(reader => {
    const record = find(reader, input, input.messageId, RECEIVED);
    return record === null ? undefined : shownAuthentication(record);
  });
}

/** The original bytes, in any processing state. */
export function openRawMessage(deps: Deps, input: MessageInput): Download {
  const record = deps.store.read(reader => locate(reader, input, RECEIVED));
  const blob = openBlob(deps.store, record.raw);
  return { ...blob, filename: `${record.id}.eml` };
}

/** The decoded bytes of one attachment of a ready message; `not_found` while it is not ready. */
export function openAttachment(
  deps: Deps,
  input: MessageInput & { readonly attachmentId: string },
): Download {
  const record = deps.store.read(reader => locate(reader, input, RECEIVED));
  const place = record.attachments.find(attachment => attachment.id === input.attachmentId);
  if (place === undefined) throw notFound('attachment');
  return { ...openAttachmentBytes(deps.store, record, place), filename: place.filename };
}

/** A sent message with its submission as JSON bytes (`getSentMessage`). Files are streamed as base64. */
export function getSentDetail(deps: Deps, input: MessageInput): ByteStream {
  const { store } = deps;
  const { record, newWords } = store.read(reader => located(reader, locate(reader, input, SENT)));
  const { from, to, cc, bcc, subject } = record;
  const fields = JSON.stringify(viewSent(record)).slice(0, -1);
  const head = JSON.stringify({ submission: { from, to, cc, bcc, subject } }).slice(1, -2);
  // The bodies are kept as they are shown: megabytes of JSON are not read and written again.
  const bodies = openBlob(store, record.content);
  const tail = `${JSON.stringify({ attachments: [], ...headersOf(record) }).slice(1)}}`;
  return joinStreams([
    inMemory([Buffer.from(`${fields},"reply_text":`)]),
    openNewWords(store, record.content, bodies, newWords),
    inMemory([Buffer.from(`,${head},`)]),
    membersOf(bodies),
    fillInFiles(`,${tail}`, record.files, store),
  ]);
}

/** The reply headers as they were transmitted; none of a message that answers nothing. */
function headersOf({ replyHeaders }: SentRecord): object {
  if (replyHeaders === null) return {};
  return { headers: { 'In-Reply-To': replyHeaders.inReplyTo, References: replyHeaders.references } };
}
