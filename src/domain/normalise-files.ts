import { fail, ok, type Result } from './errors.js';

/** An attachment as it was given (specification, AttachmentInput). */
export interface FileInput {
  readonly filename: string;
  readonly type: string;
  /** Padded base64 without white space. */
  readonly content: string;
}

export const MAX_FILES = 32;
const MAX_FILENAME_BYTES = 255;
const MAX_TYPE_LENGTH = 127;
const CONTROL = /\p{Cc}/u;
const TYPE = /^[A-Za-z0-9!#$&^_.+-]+\/[A-Za-z0-9!#$&^_.+-]+$/;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Checks attachments; absent, null and empty all mean none. */
export function normaliseFiles(given: readonly FileInput[] | null | undefined): Result<readonly FileInput[]> {
  const files = given ?? [];
  if (files.length > MAX_FILES) {
    return fail(
      'invalid_message',
      `attachments has ${files.length} files; at most ${MAX_FILES} are allowed.`,
    );
  }
  for (const [index, file] of files.entries()) {
    const problem = problemOf(file);
    if (problem !== null) return fail('invalid_message', `attachments[${index}].${problem}`);
  }
  return ok(files);
}

function problemOf({ filename, type, content }: FileInput): string | null {
  if (!isFilename(filename)) {
    return `filename must be 1 to ${MAX_FILENAME_BYTES} bytes of UTF-8 without control characters, slash or backslash.`;
  }
  if (type.length > MAX_TYPE_LENGTH || !TYPE.test(type)) {
    return 'type must be a MIME type without parameters, like application/pdf.';
  }
  if (content.length % 4 !== 0 || !BASE64.test(content)) {
    return 'content must be padded base64 without white space.';
  }
  return null;
}

function isFilename(name: string): boolean {
  return (
    name !== '' &&
    Buffer.byteLength(name) <= MAX_FILENAME_BYTES &&
    name.isWellFormed() &&
    !CONTROL.test(name) &&
    !/[/\\]/.test(name)
  );
}
