import {
  MAX_FILENAME_BYTES,
  MAX_FILES,
  MAX_MEDIA_TYPE_LENGTH,
  MAX_RECIPIENTS,
  PATTERNS,
} from '../contract/limits.js';
import type { AttachmentInput, FileInput, SendInput } from '../contract/sending.js';
import { domainOf, isEmailAddress } from './addresses.js';
import { refuse } from './errors.js';
import type { MessageId, UploadId } from './ids.js';
import { lineFaultOf, normaliseName } from './text.js';

/** Recipients as an agent gives them; their types have been checked by the schema. */
export type RecipientsInput = Partial<Pick<SendInput, 'to' | 'cc' | 'bcc'>>;

/**
 * Checks recipients and trims their names. An address keeps its letter case: the envelope has it as it was given.
 * @returns `MAX_RECIPIENTS` at most, possibly none
 * @throws `invalid_message` or `invalid_name`
 */
export function normaliseRecipients(input: RecipientsInput): Recipients {
  const to = normaliseMailboxes('to', input.to ?? []);
  const cc = normaliseMailboxes('cc', input.cc ?? []);
  const bcc = normaliseMailboxes('bcc', input.bcc ?? []);
  checkRecipientCount(to, cc, bcc);
  return { to, cc, bcc };
}

/**
 * Refuses more than `MAX_RECIPIENTS` entries in all lists together.
 * @throws `invalid_message`
 */
export function checkRecipientCount(...lists: readonly (readonly Mailbox[])[]): void {
  const count = lists.reduce((sum, list) => sum + list.length, 0);
  if (count > MAX_RECIPIENTS) {
    throw refuse(
      'invalid_message',
      `to, cc and bcc have ${count} entries together; at most ${MAX_RECIPIENTS} are allowed.`,
    );
  }
}

/**
 * Checks one list of recipients.
 * @param field the name of the list, for the refusal
 * @throws `invalid_message` or `invalid_name`
 */
export function normaliseMailboxes(
  field: string,
  given: NonNullable<RecipientsInput['to']>,
): readonly Mailbox[] {
  const mailboxes: Mailbox[] = [];
  for (const [index, { address, name: givenName }] of given.entries()) {
    if (!isEmailAddress(address)) {
      throw refuse(
        'invalid_message',
        `${field}[${index}].address must be one bare ASCII address like name@example.org, without a display name.`,
      );
    }
    const name = normaliseName(`${field}[${index}].name`, givenName);
    mailboxes.push(name === null ? { address } : { address, name });
  }
  return mailboxes;
}

/** Every address in the order of To, Cc and Bcc, duplicates too: the quota counts them, and policies check them. */
export function addressesOf({ to, cc, bcc }: Recipients): string[] {
  return [...to, ...cc, ...bcc].map(({ address }) => address);
}

/**
 * The forward-paths of the envelope: each address once, in order. Addresses are the same when they differ only in the
 * letter case of the domain, not of the local part (RFC 5321 section 2.4).
 */
export function envelopeRecipients(recipients: Recipients): string[] {
  const paths = new Map<string, string>();
  for (const address of addressesOf(recipients)) {
    const at = address.lastIndexOf('@');
    const identity = address.slice(0, at) + address.slice(at).toLowerCase();
    if (!paths.has(identity)) paths.set(identity, address);
  }
  return [...paths.values()];
}

/** The same by domain (`domainOf`), in the order in which the domains come first. */
export function envelopeByDomain(recipients: Recipients): ReadonlyMap<string, readonly string[]> {
  const byDomain = new Map<string, string[]>();
  for (const address of envelopeRecipients(recipients)) {
    const domain = domainOf(address);
    const known = byDomain.get(domain);
    if (known === undefined) byDomain.set(domain, [address]);
    else known.push(address);
  }
  return byDomain;
}

const BASE64 = new RegExp(PATTERNS.base64);

/** Whether this is padded base64 without white space. */
export function isBase64(text: string): boolean {
  return text.length % 4 === 0 && BASE64.test(text);
}

/**
 * Checks attachments; absent, null and empty all mean none. What they refer to is looked up later.
 * @throws `invalid_message`
 */
export function normaliseFiles(given: readonly FileInput[] | null | undefined): readonly FileInput[] {
  const files = given ?? [];
  if (files.length > MAX_FILES) {
    throw refuse(
      'invalid_message',
      `attachments has ${files.length} files; at most ${MAX_FILES} are allowed.`,
    );
  }
  for (const [index, file] of files.entries()) {
    const problem = problemOf(file);
    if (problem !== null) throw refuse('invalid_message', `attachments[${index}].${problem}`);
  }
  return files;
}

function problemOf(file: FileInput): string | null {
  const { filename, type } = file;
  if (filename !== undefined && !isFilename(filename)) {
    return `filename must be 1 to ${MAX_FILENAME_BYTES} bytes of UTF-8 without control characters, slash or backslash.`;
  }
  if (type !== undefined && !isMediaType(type)) {
    return 'type must be a MIME type without parameters, like application/pdf.';
  }
  if ('content' in file && !isBase64(file.content)) {
    return 'content must be padded base64 without white space.';
  }
  return null;
}

function isFilename(name: string): boolean {
  return name !== '' && lineFaultOf(name, MAX_FILENAME_BYTES) === null && !/[/\\]/.test(name);
}

const MEDIA_TYPE = new RegExp(PATTERNS.mediaType);

/** Octets of a line, its CRLF not counted (RFC 5322 section 2.1.1). */
export const MAX_LINE_OCTETS = 998;

/** The media type of a file of unknown kind (RFC 2046 section 4.5.1). */
export const UNKNOWN_TYPE = 'application/octet-stream';

/** True for a type and subtype without parameters (RFC 6838 section 4.2). */
export function isMediaType(text: string): boolean {
  return text.length <= MAX_MEDIA_TYPE_LENGTH && MEDIA_TYPE.test(text);
}

/** The usual file name extension of a media type, for a file without a name. */
const EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ['application/gzip', 'gz'],
  ['application/json', 'json'],
  ['application/msword', 'doc'],
  ['application/pdf', 'pdf'],
  ['application/rtf', 'rtf'],
  ['application/vnd.ms-excel', 'xls'],
  ['application/vnd.ms-powerpoint', 'ppt'],
  ['application/vnd.openxmlformats-officedocument.presentationml.presentation', 'pptx'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'docx'],
  ['application/xml', 'xml'],
  ['application/zip', 'zip'],
  ['audio/mpeg', 'mp3'],
  ['audio/wav', 'wav'],
  ['image/bmp', 'bmp'],
  ['image/gif', 'gif'],
  ['image/jpeg', 'jpg'],
  ['image/jpg', 'jpg'],
  ['image/png', 'png'],
  ['image/svg+xml', 'svg'],
  ['image/tiff', 'tif'],
  ['image/webp', 'webp'],
  ['message/rfc822', 'eml'],
  ['text/calendar', 'ics'],
  ['text/csv', 'csv'],
  ['text/html', 'html'],
  ['text/markdown', 'md'],
  ['text/plain', 'txt'],
  ['text/vcard', 'vcf'],
  ['text/x-vcard', 'vcf'],
  ['text/xml', 'xml'],
  ['video/mp4', 'mp4'],
]);

/** The usual extension of a media type, without its dot; `bin` when there is none. */
export function fileExtension(type: string): string {
  return EXTENSIONS.get(type.toLowerCase()) ?? 'bin';
}

/*
 * What is sent. Values of these types have passed the checks of `send-input.ts`.
 */

/** An address, with or without a display name (RFC 5322 section 3.4). */
export interface Mailbox {
  /** ASCII, letter case as given. */
  readonly address: string;
  /** Trimmed, not blank, without control characters; absent for none. */
  readonly name?: string;
}

/** Recipients in the order given. An address may occur more than once; the quota counts each entry. */
export interface Recipients {
  readonly to: readonly Mailbox[];
  readonly cc: readonly Mailbox[];
  readonly bcc: readonly Mailbox[];
}

/** Name, type and disposition (RFC 2183) of a file of an outgoing message. */
export interface FileDescription {
  readonly filename: string;
  /** `type/subtype` without parameters. */
  readonly type: string;
  readonly disposition: 'attachment' | 'inline';
  /** Without angle brackets (RFC 2392). Only the files of a forwarded original have one. */
  readonly contentId?: string;
}

/** How the bytes of a file stand in a message (RFC 2045 section 6); `identity` for 7bit, 8bit, binary and unknown ones. */
export type TransferEncoding = 'base64' | 'quoted-printable' | 'identity';

/** A file within a message: its bytes are there encoded, and nowhere else. */
export interface EncodedFile {
  /** Offset of its first byte from the start of the message. */
  readonly start: number;
  /** Bytes in the message, encoded. */
  readonly length: number;
  readonly encoding: TransferEncoding;
  /** Bytes once they are decoded. */
  readonly size: number;
  /** SHA-256 of the decoded bytes, in base64url. */
  readonly sha256: string;
}

/** An attachment within the message that it came in. */
export interface AttachedFile extends EncodedFile {
  /** Id within the message, as in the content's attachment metadata. */
  readonly id: string;
  /** As in the metadata, so that a download need not read the content. */
  readonly filename: string | null;
}

/** Header fields of a reply, as transmitted: ids in angle brackets (RFC 5322 section 3.6.4). */
export interface ReplyHeaders {
  readonly inReplyTo: string;
  readonly references: string;
}

/** A file to send, its bytes decoded. */
export interface OutgoingFile extends FileDescription {
  readonly bytes: Uint8Array;
  /** The upload that has these bytes: they are not stored a second time. */
  readonly uploadId?: UploadId;
}

/** The message that a reply answers, and the header fields that say so. */
export interface ReplyTarget {
  readonly id: MessageId;
  readonly headers: ReplyHeaders;
}

/** The content of a message to send: all but its recipients, and without the attribution. */
export interface OutgoingBody {
  readonly subject: string;
  readonly text: string;
  readonly html: string | null;
  readonly files: readonly OutgoingFile[];
  readonly replyTarget: ReplyTarget | null;
}

/** Decodes an attachment that comes with the request. */
export function decodedFile({ filename, type, content }: AttachmentInput): OutgoingFile {
  return { filename, type, disposition: 'attachment', bytes: Buffer.from(content, 'base64') };
}
