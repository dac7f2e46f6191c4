import { createHash, type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import type { DkimAlgorithm } from '../../domain/dkim.js';
import { asBuffer } from '../../lib/bytes.js';
import { inSlices } from '../../lib/slices.js';
import { hashBody } from './hash-body.js';

/** A key that signs for a domain (RFC 6376 section 3.1). */
export interface SigningKey {
  /** Lower case, A-labels. */
  readonly domain: string;
  readonly selector: string;
  readonly algorithm: DkimAlgorithm;
  readonly privateKey: KeyObject;
}

export interface SigningOptions {
  /** When it is signed, in milliseconds since the epoch. */
  readonly date: number;
  /** The server that takes the message writes Message-ID and Date anew, so neither is signed. */
  readonly isRedated: boolean;
}

/** Signed once more than they are there, so that none can be added (RFC 6376 section 8.15). */
const OVERSIGNED = ['From', 'To', 'Cc', 'Subject', 'Reply-To'];

/** Signed where they are there. Sender and List-... are for those who hand the message on (RFC 6376 section 5.4.1). */
const SIGNED = [
  'Date',
  'Message-ID',
  'In-Reply-To',
  'References',
  'MIME-Version',
  'Content-Type',
  'Content-Transfer-Encoding',
];

const REDATED = new Set(['Date', 'Message-ID']);

const END_OF_HEADER = Buffer.from('\r\n\r\n');

const signAsync = promisify(sign) as (
  algorithm: string | null,
  data: Uint8Array,
  key: KeyObject,
) => Promise<Buffer>;

/**
 * Loads the library, which takes some 20 MB and holds the event loop for a tenth of a second: for those alone who sign,
 * and best before the first message.
 */
export function loadSigner(): Promise<Library> {
  library ??= Promise.all([
    import('mailauth/lib/tools.js'),
    import('mailauth/lib/dkim/header/index.js'),
  ]).then(([tools, header]) => ({ ...tools, ...header }));
  library.catch(() => {
    library = undefined;
  });
  return library;
}

type Library = typeof import('mailauth/lib/tools.js') & typeof import('mailauth/lib/dkim/header/index.js');

let library: Promise<Library> | undefined;

/**
 * The message with a DKIM-Signature for each key before it (RFC 6376, RFC 8463): relaxed/relaxed, 7-bit, folded where it
 * has spaces, no line over 998 octets. mailauth writes the signatures; the body is hashed here, in turns, and RSA keys
 * work in a thread of Node's pool. With RSA and Ed25519 the same input always gives the same bytes.
 * @param content a message as `composeMessage` writes it: CRLF line ends, lines of at most 998 octets
 * @param keys none leaves the message as it is
 * @throws Error for a message without a header or a From, or with a line that no message may have
 */
export async function signMessage(
  content: Uint8Array,
  keys: readonly SigningKey[],
  { date, isRedated }: SigningOptions,
): Promise<Uint8Array> {
  if (keys.length === 0) return content;
  const { parseHeaders, formatSignatureHeaderLine, generateCanonicalizedHeader } = await loadSigner();
  const bytes = asBuffer(content);
  const headerEnd = bytes.indexOf(END_OF_HEADER);
  if (headerEnd < 0) throw new Error('a message without an end of its header');
  const fields = parseHeaders(bytes.subarray(0, headerEnd)).parsed;
  if (!fields.some(({ key }) => key === 'from')) throw new Error('a message without From');
  const bodyHash = await inSlices(hashBody(bytes.subarray(headerEnd + END_OF_HEADER.length)));
  const signed = { keys: namesOf(fields, isRedated).join(': '), headers: fieldsOf(fields, isRedated) };
  const signatures = keys.map(async ({ domain, selector, algorithm, privateKey }) => {
    const { canonicalizedHeader, dkimHeaderOpts } = generateCanonicalizedHeader('DKIM', signed, {
      algorithm,
      canonicalization: 'relaxed/relaxed',
      selector,
      signingDomain: domain,
      bodyHash,
      // The library writes nothing for the first second of 1970.
      signTime: new Date(Math.max(date, 1_000)),
    });
    const b = (await SIGN[algorithm](canonicalizedHeader, privateKey)).toString('base64');
    return `${formatSignatureHeaderLine('DKIM', { ...dkimHeaderOpts, b }, true)}\r\n`;
  });
  return Buffer.concat([Buffer.from((await Promise.all(signatures)).join(''), 'latin1'), bytes]);
}

const SIGN: Readonly<Record<DkimAlgorithm, (data: Buffer, key: KeyObject) => Promise<Buffer>>> = {
  'rsa-sha256': (data, key) => signAsync('sha256', data, key),
  // What Ed25519 signs is the hash (RFC 8463 section 3); it takes less than the way to another thread and back.
  'ed25519-sha256': async (data, key) => sign(null, createHash('sha256').update(data).digest(), key),
};

interface Field {
  readonly key: string;
}

/** The names that the tag `h` says. */
function namesOf(fields: readonly Field[], isRedated: boolean): string[] {
  return signedNames(isRedated).flatMap(name => {
    const count = withName(fields, name).length;
    return Array<string>(OVERSIGNED.includes(name) ? count + 1 : count).fill(name);
  });
}

/** The fields in the order of their names; of several with a name the last one comes first (RFC 6376 section 5.4.2). */
function fieldsOf<Of extends Field>(fields: readonly Of[], isRedated: boolean): Of[] {
  return signedNames(isRedated).flatMap(name => withName(fields, name).reverse());
}

function withName<Of extends Field>(fields: readonly Of[], name: string): Of[] {
  return fields.filter(({ key }) => key === name.toLowerCase());
}

function signedNames(isRedated: boolean): readonly string[] {
  const names = [...OVERSIGNED, ...SIGNED];
  return isRedated ? names.filter(name => !REDATED.has(name)) : names;
}
