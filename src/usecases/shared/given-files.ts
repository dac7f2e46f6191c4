import { MAX_MESSAGE_BYTES } from '../../contract/limits.js';
import type {
  AttachmentInput,
  AttachmentOfMessage,
  AttachmentOfUpload,
  FileInput,
} from '../../contract/sending.js';
import { Refusal, refuse } from '../../domain/errors.js';
import { safeNameAndType } from '../../domain/forward.js';
import { type AccountId, type MessageId, toId, type UploadId } from '../../domain/ids.js';
import { decodedFile, type FileDescription, type OutgoingFile } from '../../domain/message-parts.js';
import { contentBytes, tooLarge } from '../../domain/send-input.js';
import type { Store } from '../../store/engine/store.js';
import type { Reader } from '../../store/engine/tables.js';
import {
  type AttachmentPlace,
  type FilePlace,
  getMessage,
  getSent,
  type MessageRecord,
  type ReceivedRecord,
} from '../../store/mailbox/messages.js';
import type { BlobRef } from '../../store/records/blobs.js';
import { type FileUpload, getUpload } from '../../store/records/file-uploads.js';
import { type Clock, lapseInstant } from '../ports.js';
import { readAttachment, sizeOfAttachment } from './attachments.js';
import { reachedInbox } from './callers.js';
import { readFileList, readWhole } from './contents.js';
import type { Hand } from './in-hand.js';
import { type FileToStore, noUpload, type UploadedFile } from './uploads.js';

/**
 * The files that come with a send or a draft. A request has their bytes, or says where they are already: in an upload,
 * or in a message of the account. They are looked up before rules and allowance are checked, and read
 * when what comes of them is known to fit.
 */

/** The upload with this id, if it is there and its time is not over. */
export function findUpload(
  reader: Reader,
  clock: Clock,
  accountId: AccountId,
  id: UploadId | null,
): FileUpload | null {
  const upload = id === null ? undefined : getUpload(reader, accountId, id);
  return upload !== undefined && upload.expiresAt > lapseInstant(clock) ? upload : null;
}

/** A file of a request, and where its bytes are. */
type LocatedFile =
  | { readonly from: 'request'; readonly input: AttachmentInput; readonly size: number }
  | {
      readonly from: 'upload';
      readonly input: AttachmentOfUpload;
      readonly upload: FileUpload;
      readonly size: number;
    }
  | {
      readonly from: 'message';
      readonly input: AttachmentOfMessage;
      readonly origin: Origin;
      readonly size: number;
    };

/** Where a file lies in a message. */
type Origin =
  | {
      readonly kind: 'received';
      readonly message: ReceivedRecord;
      readonly content: BlobRef;
      readonly place: AttachmentPlace;
    }
  | { readonly kind: 'sent'; readonly file: FilePlace };

type FromUpload = Extract<LocatedFile, { from: 'upload' }>;
type FromMessage = Extract<LocatedFile, { from: 'message' }>;

/** Files of a request that have been found, in their order. */
export interface LocatedFiles {
  readonly accountId: AccountId;
  readonly files: readonly LocatedFile[];
}

export interface GivenFilesDeps {
  readonly store: Store;
  readonly clock: Clock;
}

/**
 * Finds the files of a request.
 * @throws not_found for what is missing, deleted, expired or of another account; reply_not_ready for a message that is
 *   not ready yet
 */
export function locateFiles(
  reader: Reader,
  clock: Clock,
  accountId: AccountId,
  inputs: readonly FileInput[],
): LocatedFiles {
  const files = inputs.map((input, index): LocatedFile => {
    if ('content' in input) {
      return { from: 'request', input, size: Buffer.byteLength(input.content, 'base64') };
    }
    if ('upload_id' in input) {
      const upload = findUpload(reader, clock, accountId, toId<UploadId>(input.upload_id));
      if (upload === null) throw noUpload(index);
      return { from: 'upload', input, upload, size: upload.blob.size };
    }
    return locateAttachment(reader, accountId, input, index);
  });
  return { accountId, files };
}

/** Their sizes, decoded, in bytes. */
export function sizesOf({ files }: LocatedFiles): number[] {
  return files.map(({ size }) => size);
}

function locateAttachment(
  reader: Reader,
  accountId: AccountId,
  input: AttachmentOfMessage,
  index: number,
): FromMessage {
  const id = toId<MessageId>(input.message_id);
  const message = id === null ? undefined : (getMessage(reader, id) ?? getSent(reader, id));
  const isReached = message?.trash === null && reachedInbox(reader, { accountId }, message.inboxId) !== null;
  if (message === undefined || !isReached) {
    throw refuse(
      'not_found',
      `attachments[${index}].message_id: there is no such message, or it is not yours.`,
    );
  }
  const origin = originOf(message, input.attachment_id, index);
  if (origin === null) {
    throw refuse('not_found', `attachments[${index}].attachment_id: the message has no such attachment.`);
  }
  const size = origin.kind === 'sent' ? origin.file.blob.size : sizeOfAttachment(origin.place);
  return { from: 'message', input, origin, size };
}

function originOf(message: MessageRecord, attachmentId: string, index: number): Origin | null {
  if (message.kind === 'sent') {
    const file = message.files.find(({ id }) => id === attachmentId);
    return file === undefined ? null : { kind: 'sent', file };
  }
  const { content, status } = message;
  if (content === null) {
    throw refuse(
      'reply_not_ready',
      `attachments[${index}]: the message is ${status}; its files can be attached once it is ready.`,
    );
  }
  const place = message.attachments.find(({ id }) => id === attachmentId);
  return place === undefined ? null : { kind: 'received', message, content, place };
}

/**
 * The files with their bytes, to be sent with these texts.
 * @param hand what the request has in memory, to which files are added that did not come with it
 * @throws message_too_large, before anything is read; content_unavailable; and as `locateFiles`, when something has gone
 *   meanwhile
 */
export async function readFilesToSend(
  deps: GivenFilesDeps,
  located: LocatedFiles,
  { text, html }: { readonly text: string; readonly html: string | null },
  hand: Hand | null,
): Promise<OutgoingFile[]> {
  const hasMore = located.files.some(({ from }) => from !== 'request');
  const size = hasMore ? contentBytes({ text, html, fileSizes: sizesOf(located) }) : 0;
  if (size > MAX_MESSAGE_BYTES) throw tooLarge(size);
  await takeWork(hand, located, ({ from }) => from !== 'request');
  return reading(deps, located, async (file): Promise<OutgoingFile> => {
    if (file.from !== 'upload') return readOne(deps.store, file);
    const { size: _size, ...description } = uploaded(file);
    return { ...description, bytes: await readWhole(deps.store, file.upload.blob) };
  });
}

/**
 * The files as a draft stores them; their size has been checked. Uploads are not read.
 * @throws content_unavailable; and as `locateFiles`, when something has gone meanwhile
 */
export async function readFilesToStore(
  deps: GivenFilesDeps,
  located: LocatedFiles,
  hand: Hand | null,
): Promise<FileToStore[]> {
  await takeWork(hand, located, ({ from }) => from === 'message');
  return reading(deps, located, async (file): Promise<FileToStore> => {
    return file.from === 'upload' ? uploaded(file) : readOne(deps.store, file);
  });
}

async function takeWork(
  hand: Hand | null,
  { files }: LocatedFiles,
  isRead: (file: LocatedFile) => boolean,
): Promise<void> {
  const bytes = files.reduce((sum, file) => (isRead(file) ? sum + file.size : sum), 0);
  if (bytes > 0) await hand?.takeWork(bytes);
}

async function reading<File>(
  { store, clock }: GivenFilesDeps,
  { accountId, files }: LocatedFiles,
  read: (file: LocatedFile) => Promise<File>,
): Promise<File[]> {
  const given: File[] = [];
  try {
    for (const file of files) given.push(await read(file));
  } catch (error) {
    const isMissing = error instanceof Refusal && error.failure.code === 'content_unavailable';
    // Deleted while it was read: it is refused as if it had not been there.
    if (isMissing) {
      const inputs = files.map(({ input }) => input);
      store.read(reader => locateFiles(reader, clock, accountId, inputs));
    }
    throw error;
  }
  return given;
}

function uploaded({ input, upload, size }: FromUpload): UploadedFile {
  const { filename, type } = input;
  return { filename, type, disposition: 'attachment', uploadId: upload.id, size };
}

async function readOne(store: Store, file: Exclude<LocatedFile, FromUpload>): Promise<OutgoingFile> {
  if (file.from === 'request') return decodedFile(file.input);
  const { origin, input } = file;
  const { filename, type } = await describe(store, input, origin);
  const bytes = await (origin.kind === 'sent'
    ? readWhole(store, origin.file.blob)
    : readAttachment(store, origin.message, origin.place));
  return { filename, type, disposition: 'attachment', bytes };
}

/** Name and type as given, else as they are in the message. */
async function describe(
  store: Store,
  { filename, type }: AttachmentOfMessage,
  origin: Origin,
): Promise<Pick<FileDescription, 'filename' | 'type'>> {
  if (filename !== undefined && type !== undefined) return { filename, type };
  const own = origin.kind === 'sent' ? origin.file : await describeReceived(store, origin);
  return { filename: filename ?? own.filename, type: type ?? own.type };
}

async function describeReceived(
  store: Store,
  { content, place }: Extract<Origin, { kind: 'received' }>,
): Promise<Pick<FileDescription, 'filename' | 'type'>> {
  const known = (await readFileList(store, content)).find(({ id }) => id === place.id);
  return safeNameAndType(known ?? { filename: place.filename, mime_type: '' });
}
