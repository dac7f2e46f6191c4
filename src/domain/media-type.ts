/** Type and subtype (RFC 6838 section 4.2), without parameters; at most 127 characters (specification, Limits). */
const MEDIA_TYPE = /^[A-Za-z0-9!#$&^_.+-]+\/[A-Za-z0-9!#$&^_.+-]+$/;
const MAX_LENGTH = 127;

/** What a file is that nobody can say more of (RFC 2046 section 4.5.1). */
export const UNKNOWN_TYPE = 'application/octet-stream';

export function isMediaType(text: string): boolean {
  return text.length <= MAX_LENGTH && MEDIA_TYPE.test(text);
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
