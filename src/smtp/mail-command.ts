import { type Path, parsePath } from './forward-path.js';
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
