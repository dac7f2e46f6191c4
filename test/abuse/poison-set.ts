/** A message that is made to hurt its reader: legal on the wire, so that it is accepted. */
export interface PoisonMessage {
  /** Shape and size, for reports. */
  readonly name: string;
  /** As it stands between DATA and the final dot, before dot-stuffing. */
  build(): Buffer;
}

type Shape = (bytes: number) => string;

const KIB = 1024;
const MIB = 1024 * KIB;
/** Just below the default limit of 25 MiB, with room for the header. */
const LARGEST = 24.9 * MIB;

const HEAD = 'From: a@a.example\r\nTo: agent@example.org\r\nSubject: poison\r\nMIME-Version: 1.0\r\n';
const MIXED = `${HEAD}Content-Type: multipart/mixed; boundary=bb\r\n\r\n`;

/** What `piece` makes for 0, 1, 2 ... until there are about `bytes` of it. */
function series(bytes: number, piece: (index: number) => string): string {
  const pieces: string[] = [];
  for (let index = 0, made = 0; made < bytes; index++) {
    const next = piece(index);
    pieces.push(next);
    made += next.length;
  }
  return pieces.join('');
}

const filled = (bytes: number, pattern: string): string =>
  pattern.repeat(Math.ceil(bytes / pattern.length)).slice(0, bytes);

/** Lines of a pattern: the wire has no line ends but CRLF. */
const lines = (bytes: number, pattern: string): string => series(bytes, () => `${pattern}\r\n`);

const header = (name: string, value: (bytes: number) => string): Shape => {
  return bytes => `${name}: ${value(bytes)}\r\n${HEAD}\r\nBody\r\n`;
};

const body = (fields: string, content: (bytes: number) => string): Shape => {
  return bytes => `${HEAD}${fields}\r\n\r\n${content(bytes)}\r\n`;
};

const html = (content: (bytes: number) => string): Shape =>
  body('Content-Type: text/html; charset=utf-8', bytes => `<html><body>${content(bytes)}`);

const text = (charset: string, pattern: string): Shape =>
  body(`Content-Type: text/plain; charset=${charset}\r\nContent-Transfer-Encoding: 8bit`, bytes =>
    lines(bytes, filled(900, pattern)),
  );

const encoded = (encoding: string, content: (bytes: number) => string): Shape =>
  body(`Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: ${encoding}`, content);

/** Twenty parts that share the bytes, each with one field of endless parameters. */
const twentyParts = (parameter: (index: number) => string): Shape => {
  return bytes =>
    MIXED +
    series(20, () => {
      const parameters = series(bytes / 20, index => `;\r\n ${parameter(index)}`);
      return `--bb\r\nContent-Type: application/x${parameters}\r\n\r\nx\r\n`;
    }).slice(0, bytes) +
    '\r\n--bb--\r\n';
};

const SHAPES: Readonly<Record<string, Shape>> = {
  'multiparts in each other': bytes =>
    `${HEAD}Content-Type: multipart/mixed; boundary=b0\r\n\r\n${series(
      bytes,
      depth => `--b${depth}\r\nContent-Type: multipart/mixed; boundary=b${depth + 1}\r\n\r\n`,
    )}deep\r\n`,
  'multiparts of one boundary in each other': bytes =>
    MIXED + series(bytes, () => '--bb\r\nContent-Type: multipart/mixed; boundary=bb\r\n\r\n'),
  'messages in each other': bytes =>
    `${HEAD}Content-Type: message/rfc822\r\n\r\n${series(
      bytes,
      depth => `Subject: ${depth}\r\nContent-Type: message/rfc822\r\n\r\n`,
    )}deep\r\n`,
  'thousands of parts': bytes => MIXED + series(bytes, index => `--bb\r\n\r\n${index}\r\n`),
  'thousands of files': bytes =>
    MIXED +
    series(
      bytes,
      index => `--bb\r\nContent-Type: image/png; name=${index}.png\r\nContent-ID: <${index}@x>\r\n\r\n.\r\n`,
    ),
  'lines like delimiters': bytes => `${MIXED}--bb\r\n\r\n${lines(bytes, '--b')}--bb--\r\n`,
  'lines of dashes': bytes => `${MIXED}--bb\r\n\r\n${lines(bytes, '--')}`,
  'an endless delimiter': bytes => `${MIXED}--bb\r\n\r\n${filled(bytes, '--bb')}\r\n`,
  'a header of many fields': bytes => `${series(bytes, index => `X-${index}: x\r\n`)}${HEAD}\r\nBody\r\n`,
  'a header of one folded field': header('X-Pad', bytes => series(bytes, () => 'abcdefghi\r\n ')),
  'a header that is no header': bytes => `${lines(bytes, 'no header at all')}${HEAD}\r\nBody\r\n`,
  'thousands of recipients': bytes =>
    `${series(bytes, index => `To: "${index}" <a${index}@a.example>, g:;\r\n`)}${HEAD}\r\nBody\r\n`,
  'comments in each other': header('Cc', bytes => filled(bytes, '(')),
  'quotes without end': header('Cc', bytes => filled(bytes, '"\\"')),
  'thousands of references': header('References', bytes =>
    series(bytes, index => `<${index}@a.example>\r\n `),
  ),
  'a giant encoded word': header('Subject', bytes => `=?utf-8?B?${filled(bytes, 'w6TDtsO8')}?=`),
  'thousands of encoded words': header('Subject', bytes => series(bytes, () => '=?utf-8?Q?=C3=A4?=\r\n ')),
  'encoded words without end': header('Subject', bytes => filled(bytes, '=?utf-8?q?')),
  'RFC 2231 pieces in twenty parts': twentyParts(index => `filename*${index}*=utf-8''%c3%a4`),
  'RFC 2231 pieces out of order': twentyParts(index => `name*${(index * 7919) % 10_007}=..%2f`),
  'parameters of backslashes': bytes =>
    `${HEAD}Content-Type: text/plain; name="${filled(bytes, '\\"')}\r\n\r\nBody\r\n`,
  'tables that nobody closes': html(bytes => lines(bytes, '<table><tr><td>x')),
  'elements in each other': html(bytes => series(bytes, index => `<div class=c${index}><b><!-- `)),
  'thousands of charsets in HTML': body('Content-Type: text/html', bytes =>
    lines(bytes, '<meta charset=utf-16><meta http-equiv=content-type content="text/html; charset=x'),
  ),
  'cid links by the thousand': html(bytes => series(bytes, () => '<img src="cid:one@x">\r\n')),
  'soft breaks': encoded('quoted-printable', bytes => lines(bytes, '=')),
  'blanks and broken escapes': encoded('quoted-printable', bytes => filled(bytes, '=  =Z=')),
  'base64 of paddings': encoded('base64', bytes => lines(bytes, 'QQ==*=A')),
  'flowed quotes': body('Content-Type: text/plain; format=flowed; delsp=yes', bytes =>
    lines(bytes, '> > a '),
  ),
  'escapes of ISO-2022-JP': text('iso-2022-jp', '\x1b$B\x1b(J\x1b'),
  'UTF-16 in disguise': text('utf-16', '\xd8\x01\xdc'),
  'four bytes of GB18030 and UTF-7': text('gb18030', '\x81\x30\x81\x30+2D/cAA-'),
};

/** With the largest ones this makes a hundred messages. */
export const POISON_SIZES = [64 * KIB, MIB, 4 * MIB] as const;
const LARGE_SHAPES = [
  'thousands of files',
  'a header of many fields',
  'tables that nobody closes',
  'thousands of references',
];

/** Every shape in every size. */
export function poisonSet(sizes: readonly number[] = POISON_SIZES): PoisonMessage[] {
  const shapes = Object.entries(SHAPES);
  return sizes.flatMap(bytes => shapes.map(([shape, write]) => poison(shape, write, bytes)));
}

/** Some shapes in the size of the largest message that is accepted by default. */
export function largestPoison(count = LARGE_SHAPES.length): PoisonMessage[] {
  return LARGE_SHAPES.slice(0, count).flatMap(shape => {
    const write = SHAPES[shape];
    return write === undefined ? [] : [poison(shape, write, LARGEST)];
  });
}

function poison(shape: string, write: Shape, bytes: number): PoisonMessage {
  return {
    name: `${shape}, ${(bytes / MIB).toFixed(bytes < MIB ? 2 : 0)} MiB`,
    build: () => Buffer.from(write(bytes), 'latin1'),
  };
}
