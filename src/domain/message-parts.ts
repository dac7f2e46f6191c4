import {
  MAX_FILENAME_BYTES,
  MAX_FILES,
  MAX_MEDIA_TYPE_LENGTH,
  MAX_RECIPIENTS,
  PATTERNS,
} from '../contract/limits.js';
import type { AttachmentInput, SendInput } from '../contract/sending.js';
import { isEmailAddress } from './addresses.js';
import { refuse } from './errors.js';
import type { MessageId } from './ids.js';
import { lineFaultOf, normaliseName } from './text.js';

/** Recipients as they were given; the schema has seen to their shape. */
export type RecipientsInput = Partial<Pick<SendInput, 'to' | 'cc' | 'bcc'>>;

/**
 * Checks recipients and trims their names (specification, "Mailbox"). An address is kept as given, letter case
 * included: what is checked here is what the envelope says.
 * @returns at most 50 of them, none at all included; `invalid_message` or `invalid_name`
 */
export function normaliseRecipients(input: RecipientsInput): Recipients {
  const to = normaliseMailboxes('to', input.to ?? []);
  const cc = normaliseMailboxes('cc', input.cc ?? []);
  const bcc = normaliseMailboxes('bcc', input.bcc ?? []);
  checkRecipientCount(to, cc, bcc);
  return { to, cc, bcc };
}

/** Refuses more than fifty entries. */
export function checkRecipientCount(...lists: readonly (readonly Mailbox[])[]): void {
  const count = lists.reduce((sum, list) => sum + list.length, 0);
  if (count > MAX_RECIPIENTS) {
    throw refuse(
      'invalid_message',
      `to, cc and bcc have ${count} entries together; at most ${MAX_RECIPIENTS} are allowed.`,
    );
  }
}

/** Checks one list of recipients; `field` is named in errors. */
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

/** Every entry in the order of To, Cc and Bcc, repeats included: what is charged and what rules look at. */
export function addressesOf({ to, cc, bcc }: Recipients): string[] {
  return [...to, ...cc, ...bcc].map(({ address }) => address);
}

/**
 * The forward-paths of the envelope: each address once, in order. Letter case of the domain does not make
 * another address (RFC 5321 section 2.4), that of the local part does.
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

const BASE64 = new RegExp(PATTERNS.base64);

/** Checks attachments; absent, null and empty all mean none. */
export function normaliseFiles(
  given: readonly AttachmentInput[] | null | undefined,
): readonly AttachmentInput[] {
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

function problemOf({ filename, type, content }: AttachmentInput): string | null {
  if (!isFilename(filename)) {
    return `filename must be 1 to ${MAX_FILENAME_BYTES} bytes of UTF-8 without control characters, slash or backslash.`;
  }
  if (!isMediaType(type)) {
    return 'type must be a MIME type without parameters, like application/pdf.';
  }
  if (content.length % 4 !== 0 || !BASE64.test(content)) {
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

/** What a file is that nobody can say more of (RFC 2046 section 4.5.1). */
export const UNKNOWN_TYPE = 'application/octet-stream';

/** Is this a type and subtype (RFC 6838 section 4.2), without parameters? */
export function isMediaType(text: string): boolean {
  return text.length <= MAX_MEDIA_TYPE_LENGTH && MEDIA_TYPE.test(text);
}

/** The usual ending of files of a type, for a file that has no name of its own. */
const ENDINGS: ReadonlyMap<string, string> = new Map([
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

/** Without its dot; `bin` where there is no usual one. */
export function fileEnding(type: string): string {
  return ENDINGS.get(type.toLowerCase()) ?? 'bin';
}

/**
 * What an agent sends (`sendMessage`). Everything here has passed the checks of `send-input.ts`.
 */

/** A mailbox as an agent writes it (RFC 5322 section 3.4). Without a display name there is no `name`. */
export interface Mailbox {
  /** Bare ASCII address, letter case as given. */
  readonly address: string;
  /** Trimmed, never blank, no control characters. */
  readonly name?: string;
}

/** Recipients in order; one address may stand in them more than once, and each entry is charged. */
export interface Recipients {
  readonly to: readonly Mailbox[];
  readonly cc: readonly Mailbox[];
  readonly bcc: readonly Mailbox[];
}

/** What a file of an outgoing message is called and how it is shown (RFC 2183). */
export interface FileDescription {
  readonly filename: string;
  /** `type/subtype` without parameters. */
  readonly type: string;
  readonly disposition: 'attachment' | 'inline';
  /** Without angle brackets (RFC 2392); only of files that a forward took over. */
  readonly contentId?: string;
}

/** Header fields of a reply, as transmitted: ids in angle brackets (RFC 5322 section 3.6.4). */
export interface ReplyHeaders {
  readonly inReplyTo: string;
  readonly references: string;
}

/** A file to send, its bytes decoded. */
export interface OutgoingFile extends FileDescription {
  readonly bytes: Uint8Array;
}

/** The message that a reply answers. */
export interface ReplyTarget {
  readonly id: MessageId;
  readonly headers: ReplyHeaders;
}

/** What is to be sent but for whom it goes to, without the attribution. */
export interface OutgoingBody {
  readonly subject: string;
  readonly text: string;
  readonly html: string | null;
  readonly files: readonly OutgoingFile[];
  readonly replyTo: ReplyTarget | null;
}

/** Files as an agent gives them, decoded. */
export function decodedFiles(files: readonly AttachmentInput[]): OutgoingFile[] {
  return files.map(({ filename, type, content }) => ({
    filename,
    type,
    disposition: 'attachment',
    bytes: Buffer.from(content, 'base64'),
  }));
}
