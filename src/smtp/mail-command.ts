import { MAX_ADDRESS_LENGTH } from '../contract/limits.js';
import { type Reply, replies } from './replies.js';

export interface MailCommand {
  readonly reversePath: Path;
  /** SIZE (RFC 1870), or null. */
  readonly declaredBytes: number | null;
}

/** `MAIL FROM:<reverse-path> [parameters]` (RFC 5321 section 4.1.1.2), or the reply that refuses it. */
export function parseMail(line: string): MailCommand | Reply {
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

/** `RCPT TO:<forward-path>` (section 4.1.1.3), or the reply that refuses it. No parameter is offered. */
export function parseRcpt(line: string): Path | Reply {
  const match = /^RCPT +TO *:/i.exec(line);
  const parsed = match === null ? null : parsePath(line.slice(match[0].length));
  if (parsed === null || parsed.path.written === '') return replies.badRecipient;
  return parsed.rest.trim() === '' ? parsed.path : replies.unknownParameter;
}

interface MailParameters {
  readonly declaredBytes: number | null;
}

const NO_PARAMETERS: MailParameters = { declaredBytes: null };

/** What EHLO offers: SIZE, BODY (RFC 6152) and SMTPUTF8 (RFC 6531); or the reply that refuses the rest. */
function parseMailParameters(text: string): MailParameters | Reply {
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
 * Paths of MAIL and RCPT (RFC 5321 section 4.1.2), read as leniently as is harmless and kept as the
 * sender wrote them: letter case, quoting and xn-- labels are for others to judge.
 */

export interface Path {
  /** Without angle brackets and source route (appendix C: accepted and ignored); `""` for `<>`. */
  readonly written: string;
  /** The same address with a local part unquoted that needs no quotes: `"agent"@x` names `agent@x`. */
  readonly address: string;
}

/** UTF-8 beyond ASCII (RFC 6531 section 3.3), less the controls and U+FFFD, which invalid UTF-8 becomes. */
const NON_ASCII = '\\u00A0-\\uFFFC\\u{10000}-\\u{10FFFF}';
/** `atext` and the dot: dots at the edges and in a row are against the grammar, but such senders exist. */
const DOT_STRING = `[A-Za-z0-9!#$%&'*+/=?^_\`{|}~.\\-${NON_ASCII}]+`;
const QUOTED_STRING = `"(?:[ !#-\\[\\]-~${NON_ASCII}]|\\\\[ -~])*"`;
/** The underscore is no letter of a domain either, and likewise in use. */
const LETTER = `A-Za-z0-9_${NON_ASCII}`;
const LABEL = `[${LETTER}](?:[${LETTER}\\-]*[${LETTER}])?`;
const DOMAIN = `${LABEL}(?:\\.${LABEL})*`;
const LITERAL = '\\[[0-9A-Za-z:.\\-]+\\]';
const ROUTE = `(?:@${DOMAIN}(?:,@${DOMAIN})*:)?`;
const MAILBOX = `(${DOT_STRING}|${QUOTED_STRING})@(?:${DOMAIN}|${LITERAL})`;

const PATH = new RegExp(`^ *<(?:${ROUTE}(${MAILBOX})|([Pp][A-Za-z]{9})|)>`, 'u');
const NEEDS_NO_QUOTES = new RegExp(`^(?!\\.)(?!.*\\.\\.)(?!.*\\.$)${DOT_STRING}$`, 'u');
/** Format characters that would be invisible in an address. */
const INVISIBLE = /[\u200b\u2060\ufeff]/;

export interface ParsedPath {
  readonly path: Path;
  /** What follows the closing bracket: nothing, or a space and parameters. */
  readonly rest: string;
}

/** Reads the path that `text` (what follows `FROM:` or `TO:`) begins with; null when it is none. */
export function parsePath(text: string): ParsedPath | null {
  const match = PATH.exec(text);
  if (match === null) return null;
  const rest = text.slice(match[0].length);
  if (rest !== '' && rest[0] !== ' ') return null;
  const [, mailbox, localPart, domainless] = match;
  if (mailbox === undefined || localPart === undefined) {
    const written = domainless ?? '';
    if (written !== '' && written.toLowerCase() !== 'postmaster') return null;
    return { path: { written, address: written }, rest };
  }
  if (mailbox.length > MAX_ADDRESS_LENGTH || INVISIBLE.test(mailbox)) return null;
  const address = localPart[0] === '"' ? unquote(localPart) + mailbox.slice(localPart.length) : mailbox;
  return { path: { written: mailbox, address }, rest };
}

/** RFC 5321 section 4.1.2: quoting that is not needed makes no other mailbox. */
function unquote(localPart: string): string {
  const content = localPart.slice(1, -1).replace(/\\(.)/g, '$1');
  return NEEDS_NO_QUOTES.test(content) ? content : localPart;
}
