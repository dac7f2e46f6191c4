import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual, promisify } from 'node:util';
import { type AddressObject, type EmailAddress, type ParsedMail, simpleParser } from 'mailparser';
import t from 'tap';
import type { ParsedAddress } from '../../../../src/contract/messages.js';
import { casesFolder } from '../../../support/letters/mime-cases.js';
import { reportedCases } from '../../../support/letters/reported-cases.js';
import { type ParsedWithFiles, parseBytes } from './parse-text.js';

/*
 * mailparser's own reading of each recorded case, beside ours. Our engine is the same library, so they differ only where
 * we read a header ourselves or keep the library from making something of a body. Each difference is listed here with
 * the reason why ours is right. A difference that is not listed is a fault, of the one or the other.
 */
const KNOWN: Readonly<Record<string, readonly string[]>> = {
  'a link to a part stays as it was sent: the API gives the part itself, and copies multiply': [
    'attachments-content-id-forms html',
    'limits-html-cid-repeats html',
    'structure-full-house html',
    'structure-related-around-alternative html',
    '165-related-image-first html',
    '177-related-around-alternative html',
  ],
  'text and HTML are what was sent as such: neither is made from the other, nor from reports or inner messages':
    [
      'charset-html-meta-disagrees text',
      '163-html-root-with-cid text',
      'structure-text-and-html-in-mixed text',
      'structure-text-and-html-in-mixed html',
      'structure-dsn text',
      'structure-dsn files',
      'structure-rfc822-inline text',
      'structure-rfc822-inline files',
      'limits-nesting-rfc822 text',
      'limits-nesting-rfc822 files',
    ],
  'neighbouring HTML bodies are joined without a markup of ours': [
    'structure-two-html-parts html',
    '170-apple-html-image-html html',
  ],
  'a text with a file name beside the body is a file': [
    'structure-html-file-inline html',
    'structure-html-file-inline files',
  ],
  'a file name is no path (RFC 2183 section 2.3)': [
    'attachments-traversal-absolute files',
    'attachments-traversal-encoded files',
    'attachments-traversal-windows files',
    'attachments-long-name files',
  ],
  'the type of a file is what the sender says of it, and not guessed from its name': [
    '143-name-spaces-around-equals files',
    '151-name-pieces-unquoted-tail files',
    '153-type-is-encoded-word files',
    '159-uuencode-cte files',
  ],
  'an id in double brackets is in brackets, and its image is not typed by its name': [
    '161-cid-double-brackets files',
  ],
  'a date that is none is given as written, and never becomes the present': [
    'dates-garbage-folded date',
    'dates-impossible-hour date',
    'dates-unknown-zone date',
  ],
  'second 60 is the next minute (RFC 5322 section 3.3)': ['dates-leap-second date'],
  'ids stay as written: brackets that nobody wrote would make other ids': [
    'threading-in-reply-to-no-brackets in_reply_to',
    'threading-in-reply-to-phrase in_reply_to',
    'threading-message-id-comment message_id',
    'threading-references-garbage references',
    '127-id-two-ats message_id',
  ],
  'every mailbox of a damaged list is read, and a comment is none': [
    'addresses-missing-comma to',
    'addresses-unclosed-quote to',
    '118-addr-never-closed cc',
    '125-group-comment-behind to',
  ],
  'a domain that cannot be decoded stays as written': ['addresses-idn-invalid from'],
  'raw bytes that are no UTF-8 are windows-1252, each word by itself': [
    'charset-missing-latin1 text',
    'words-raw-latin1 subject',
    '122-addr-mixed-utf8-latin1 cc',
  ],
  'a character that was split between two encoded words is one character': [
    'words-mixed-encodings-split subject',
  ],
  'a subject is one line without controls, or a field of its own could be read in it': [
    'words-line-break-inside subject',
    'headers-nul-in-subject subject',
  ],
  'unfolding takes the line end alone (RFC 5322 section 2.2.3)': ['headers-folded-space subject'],
  'an empty subject is not a missing one': ['headers-subject-empty subject'],
  'a multipart without a boundary is a text': ['structure-boundary-missing-parameter text'],
  'a transfer encoding in quotes, or with a semicolon, is what it names': [
    'transfer-cte-quoted text',
    'transfer-cte-semicolon text',
  ],
  'what is over a limit is left out, and the message is read all the same': [
    'limits-header-3mb fails',
    'limits-many-small-headers fails',
    'limits-parts-2500 fails',
    'limits-received-10000 fails',
  ],
};

const folder = casesFolder();
const skip = folder === null && 'no recorded cases: set POSTERN_CASES to their folder';

t.test('where plain simpleParser disagrees, the reason is known', { skip }, async t => {
  const reasons = new Map(Object.entries(KNOWN).flatMap(([why, ids]) => ids.map(id => [id, why] as const)));
  const found: string[] = [];
  const cases = await allCases(folder ?? '');
  for (const [id, raw] of cases) {
    for (const { field, theirs, ours } of await disagreements(raw)) {
      const name = `${id} ${field}`;
      found.push(name);
      t.comment(`${name}: ${excerpt(theirs)} is ours ${excerpt(ours)}: ${reasons.get(name) ?? 'NOT LISTED'}`);
      t.ok(reasons.has(name), `${name} is listed`);
    }
  }
  t.ok(cases.size > 150, 'there are cases');
  for (const name of reasons.keys()) {
    if (cases.has(name.slice(0, name.lastIndexOf(' ')))) t.ok(found.includes(name), `${name} still differs`);
  }
});

/** The messages of all cases by their ids; the runner of the cases makes those that are too large to be kept. */
async function allCases(from: string): Promise<ReadonlyMap<string, Buffer>> {
  const written = await mkdtemp(path.join(tmpdir(), 'postern-cases-'));
  try {
    const parser = fileURLToPath(new URL('./cases-parser.js', import.meta.url));
    const script = [path.join(from, 'run-mime.mjs'), path.join(from, 'mime')];
    await promisify(execFile)(process.execPath, [
      ...script,
      '--parser',
      parser,
      '--write',
      written,
      '--quiet',
    ]);
    const cases = new Map<string, Buffer>();
    for (const file of (await readdir(written)).sort()) {
      cases.set(path.basename(file, '.eml'), await readFile(path.join(written, file)));
    }
    for (const { id, raw } of reportedCases(from)) cases.set(id, raw);
    return cases;
  } finally {
    await rm(written, { recursive: true });
  }
}

interface Disagreement {
  readonly field: string;
  readonly theirs: unknown;
  readonly ours: unknown;
}

async function disagreements(raw: Buffer): Promise<readonly Disagreement[]> {
  const ours = fieldsOfOurs(await parseBytes(raw));
  let theirs: Fields;
  try {
    theirs = fieldsOfTheirs(await simpleParser(raw));
  } catch (error) {
    return [{ field: 'fails', theirs: String(error), ours: ours.subject }];
  }
  return Object.keys(ours)
    .filter(field => !isDeepStrictEqual(theirs[field], ours[field]))
    .map(field => ({ field, theirs: theirs[field], ours: ours[field] }));
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsOfTheirs(mail: ParsedMail): Fields {
  return {
    from: addressesIn(mail.from)[0] ?? null,
    reply_to: addressesIn(mail.replyTo),
    to: addressesIn(mail.to),
    cc: addressesIn(mail.cc),
    bcc: addressesIn(mail.bcc),
    subject: mail.subject ?? null,
    message_id: mail.messageId ?? null,
    in_reply_to: mail.inReplyTo ?? null,
    references: [mail.references ?? []].flat().join(' ') || null,
    date: mail.date?.getTime() ?? null,
    text: unended(mail.text),
    html: unended(mail.html || null),
    files: mail.attachments.map(({ filename, contentType, contentDisposition, cid, content }) =>
      [filename ?? null, contentType, contentDisposition ?? null, cid ?? null, digest(content)].join('|'),
    ),
  };
}

function fieldsOfOurs({ content, files }: ParsedWithFiles): Fields {
  return {
    from: content.from === null ? null : address(content.from),
    reply_to: content.reply_to.map(address),
    to: content.to.map(address),
    cc: content.cc.map(address),
    bcc: content.bcc.map(address),
    subject: content.subject,
    message_id: content.message_id,
    in_reply_to: content.in_reply_to,
    references: content.references,
    date: content.date !== null && /^\d{4}-/.test(content.date) ? Date.parse(content.date) : content.date,
    text: unended(content.text),
    html: unended(content.html),
    files: content.attachments.map(({ filename, mime_type, disposition, content_id }, at) =>
      [filename, mime_type, disposition, content_id, digest(files[at] ?? Buffer.alloc(0))].join('|'),
    ),
  };
}

function addressesIn(field: AddressObject | AddressObject[] | undefined): readonly unknown[] {
  return [field ?? []].flat().flatMap(({ value }) => value.map(address));
}

function address(one: EmailAddress | ParsedAddress): unknown {
  return 'group' in one && one.group !== undefined
    ? { name: one.name, group: one.group.map(address) }
    : { name: one.name, address: 'address' in one ? (one.address ?? '') : '' };
}

/** With LF, and without the line ends at its end; nothing is null. */
function unended(text: string | null | undefined): string | null {
  return text?.replaceAll('\r\n', '\n').replace(/\n+$/, '') || null;
}

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 12);
}

function excerpt(value: unknown): string {
  return (JSON.stringify(value) ?? 'undefined').slice(0, 100);
}
