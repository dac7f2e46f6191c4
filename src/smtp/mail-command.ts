import { MAX_ADDRESS_LENGTH } from '../contract/limits.js';
import { replies, type SmtpReply } from './replies.js';

export interface MailCommand {
  readonly reversePath: Path;
  /** The SIZE parameter (RFC 1870), or null. */
  readonly declaredBytes: number | null;
}

/** Parses `MAIL FROM:<reverse-path> [parameters]` (RFC 5321 section 4.1.1.2); or the reply that refuses it. */
export function parseMail(line: string): MailCommand | SmtpReply {
  const match = /^MAIL +FROM *:/i.exec(line);
  const parsed = match === null ? null : parsePath(line.slice(match[0].length));
  // Only RCPT may name the postmaster without a domain (section 4.1.1.3).
  if (parsed === null || (parsed.path.written !== '' && !parsed.path.written.includes('@'))) {
    return replies.badSender;
  }
  const parameters = parsed.rest === '' ? NO_PARAMETERS : parseMailParameters(parsed.rest);
  if ('code' in parameters) return parameters;
  return { reversePath: parsed.path, declaredBytes: parameters.declaredBytes };
}

/** Parses `RCPT TO:<forward-path>` (section 4.1.1.3), without parameters; or the reply that refuses it. */
export function parseRcpt(line: string): Path | SmtpReply {
  const match = /^RCPT +TO *:/i.exec(line);
  const parsed = match === null ? null : parsePath(line.slice(match[0].length));
  if (parsed === null || parsed.path.written === '') return replies.badRecipient;
  return parsed.rest.trim() === '' ? parsed.path : replies.unknownParameter;
}

interface MailParameters {
  readonly declaredBytes: number | null;
}

const NO_PARAMETERS: MailParameters = { declaredBytes: null };

/** Parses the parameters that EHLO offers: SIZE, BODY (RFC 6152), SMTPUTF8 (RFC 6531). Others are refused. */
function parseMailParameters(text: string): MailParameters | SmtpReply {
  let declaredBytes: number | null = null;
  const seen = new Set<string>();
  for (const parameter of text.trim().split(/ +/)) {
    if (parameter === '') continue;
    const [word = '', value] = splitOnce(parameter.toUpperCase());
    if (seen.has(word)) return replies.badParameter;
    seen.add(word);
    if (word === 'SIZE') {
      if (value === undefined || !/^\d{1,20}$/.test(value)) return replies.badParameter;
      declaredBytes = Number(value);
    } else if (word === 'BODY') {
      // BINARYMIME would need BDAT (RFC 3030), which is not offered.
      if (value !== '7BIT' && value !== '8BITMIME') return replies.badParameter;
    } else if (word === 'SMTPUTF8') {
      if (value !== undefined) return replies.badParameter;
    } else {
      return replies.unknownParameter;
    }
  }
  return { declaredBytes };
}

function splitOnce(parameter: string): [string, string?] {
  const at = parameter.indexOf('=');
  return at < 0 ? [parameter] : [parameter.slice(0, at), parameter.slice(at + 1)];
}

/**
 * A path of MAIL or RCPT (RFC 5321 section 4.1.2). The parser is lenient where that is harmless. Letter case, quoting
 * and xn-- labels are kept as the sender wrote them.
 */
export interface Path {
  /** As sent, without angle brackets and source route (appendix C: accepted and ignored); `""` for `<>`. */
  readonly written: string;
  /** The same address without unnecessary quotes in the local part: `agent@x` for `"agent"@x`. */
  readonly address: string;
}

/** Non-ASCII characters (RFC 6531 section 3.3) except controls and U+FFFD, to which invalid UTF-8 is decoded. */
const NON_ASCII = '\\u00A0-\\uFFFC\\u{10000}-\\u{10FFFF}';
/** `atext` and dots. The grammar allows no dots at the edges or in a row, but some senders have such addresses. */
const DOT_STRING = `[A-Za-z0-9!#$%&'*+/=?^_\`{|}~.\\-${NON_ASCII}]+`;
const QUOTED_STRING = `"(?:[ !#-\\[\\]-~${NON_ASCII}]|\\\\[ -~])*"`;
/** The underscore is not allowed in a domain either, but is in use. */
const LETTER = `A-Za-z0-9_${NON_ASCII}`;
const LABEL = `[${LETTER}](?:[${LETTER}\\-]*[${LETTER}])?`;
const DOMAIN = `${LABEL}(?:\\.${LABEL})*`;
const LITERAL = '\\[[0-9A-Za-z:.\\-]+\\]';
const ROUTE = `(?:@${DOMAIN}(?:,@${DOMAIN})*:)?`;
/** `Mailbox` in the grammar of RFC 5321. */
const ADDRESS = `(${DOT_STRING}|${QUOTED_STRING})@(?:${DOMAIN}|${LITERAL})`;

const PATH = new RegExp(`^ *<(?:${ROUTE}(${ADDRESS})|([Pp][A-Za-z]{9})|)>`, 'u');
const NEEDS_NO_QUOTES = new RegExp(`^(?!\\.)(?!.*\\.\\.)(?!.*\\.$)${DOT_STRING}$`, 'u');
/** Format characters that are invisible in an address. */
const INVISIBLE = /[\u200b\u2060\ufeff]/;

export interface ParsedPath {
  readonly path: Path;
  /** What follows the closing bracket: empty, or a space and parameters. */
  readonly rest: string;
}

/** Parses the path at the start of `text`, which follows `FROM:` or `TO:`; null when it is not valid. */
export function parsePath(text: string): ParsedPath | null {
  const match = PATH.exec(text);
  if (match === null) return null;
  const rest = text.slice(match[0].length);
  if (rest !== '' && rest[0] !== ' ') return null;
  const [, asWritten, localPart, domainless] = match;
  if (asWritten === undefined || localPart === undefined) {
    const written = domainless ?? '';
    if (written !== '' && written.toLowerCase() !== 'postmaster') return null;
    return { path: { written, address: written }, rest };
  }
  if (asWritten.length > MAX_ADDRESS_LENGTH || INVISIBLE.test(asWritten)) return null;
  const address = localPart[0] === '"' ? unquote(localPart) + asWritten.slice(localPart.length) : asWritten;
  return { path: { written: asWritten, address }, rest };
}

/** RFC 5321 section 4.1.2: the address with unnecessary quotes and the one without are the same. */
function unquote(localPart: string): string {
  const content = localPart.slice(1, -1).replace(/\\(.)/g, '$1');
  return NEEDS_NO_QUOTES.test(content) ? content : localPart;
}
