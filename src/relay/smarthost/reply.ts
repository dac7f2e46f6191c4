import { BYTE } from '../../lib/bytes.js';

/** One whole reply of a server (RFC 5321 section 4.2). */
export interface Reply {
  readonly code: number;
  /** Enhanced status code (RFC 2034, RFC 3463), when there is one and it is of the class of the code. */
  readonly enhanced: string | null;
  /** The words of all lines as one printable line; long ones are cut. */
  readonly text: string;
}

/** Steps of a session, by the command whose answer is awaited. CONTENT comes before the final dot, DOT behind it. */
export type Step = 'GREETING' | 'EHLO' | 'STARTTLS' | 'AUTH' | 'MAIL' | 'RCPT' | 'DATA' | 'CONTENT' | 'DOT';

/** Classes and digits that a reply code may have (RFC 5321 section 4.2.1), less 1yz, which SMTP has no use for. */
const LINE = /^([2-5][0-9]{2})(?:([ -])(.*))?$/;
const ENHANCED = /^([245])\.\d{1,3}\.\d{1,3}(?=[ ]|$)/;
const MAX_TEXT = 400;

/** The reply that these lines (without their line ends) are; null when they are none. */
export function parseReply(lines: readonly string[]): Reply | null {
  let code: string | null = null;
  let enhanced: string | null = null;
  const words: string[] = [];
  for (const [at, line] of lines.entries()) {
    const match = LINE.exec(line);
    if (match === null) return null;
    const [, ownCode = '', separator = ' ', text = ''] = match;
    // Every line has the same code, and all but the last a hyphen (RFC 5321 section 4.2.1).
    if (ownCode !== (code ?? ownCode) || (separator === '-') !== at < lines.length - 1) return null;
    code = ownCode;
    const own = ENHANCED.exec(text);
    const isEnhanced = own !== null && own[1] === ownCode[0];
    if (isEnhanced) enhanced ??= own[0];
    words.push(isEnhanced ? text.slice(own[0].length) : text);
  }
  return code === null ? null : { code: Number(code), enhanced, text: printable(words.join(' ')) };
}

/** Does the line say that more of the reply follows? */
function isContinued(line: string): boolean {
  return LINE.exec(line)?.[2] === '-';
}

/** `550 5.1.1 No such user`, for the admin. */
export function describeReply({ code, enhanced, text }: Reply): string {
  return [String(code), enhanced ?? '', text].filter(part => part !== '').join(' ');
}

/** What a server wrote as one line without control characters, cut to a length for logs and records. */
export function printable(text: string): string {
  const clean = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}]+/gu, ' ').trim();
  return clean.length > MAX_TEXT ? `${clean.slice(0, MAX_TEXT)}...` : clean;
}

/** Far beyond any reply (RFC 5321 section 4.5.3.1.5 asks for 512 octets a line); what grows on is no reply. */
export const MAX_REPLY_BYTES = 65_536;

export type ReadReply =
  | { readonly status: 'reply'; readonly reply: Reply }
  /** What came is no SMTP: nothing behind it can be trusted either. */
  | { readonly status: 'malformed'; readonly words: string };

/** Puts replies together from bytes that come in pieces. A bare LF ends a line too: such servers exist. */
export class ReplyReader {
  #rest = '';
  #lines: string[] = [];
  /** Bytes of the reply that is not complete yet. */
  #bytes = 0;
  #isMalformed = false;

  /** Takes the next bytes; every reply that they complete. After `malformed` nothing more is read. */
  feed(chunk: Buffer): ReadReply[] {
    if (this.#isMalformed) return [];
    this.#bytes += chunk.length;
    this.#rest += chunk.toString('latin1');
    const read: ReadReply[] = [];
    if (chunk.includes(BYTE.LF)) {
      const lines = this.#rest.split('\n');
      this.#rest = lines.pop() ?? '';
      for (const line of lines) {
        const one = this.#take(line.endsWith('\r') ? line.slice(0, -1) : line);
        if (one !== null) read.push(one);
        if (one?.status === 'malformed') return read;
      }
    }
    if (this.#bytes > MAX_REPLY_BYTES) read.push(this.#malformed(this.#rest));
    return read;
  }

  /** What came and is no whole reply; empty when there is nothing. */
  get unfinished(): string {
    return printable(asText([...this.#lines, this.#rest].join(' ')));
  }

  #take(line: string): ReadReply | null {
    this.#lines.push(line);
    if (isContinued(line)) return null;
    const reply = parseReply(this.#lines.map(asText));
    if (reply === null) return this.#malformed(this.#lines.join(' '));
    this.#lines = [];
    this.#bytes = this.#rest.length;
    return { status: 'reply', reply };
  }

  #malformed(text: string): ReadReply {
    this.#isMalformed = true;
    return { status: 'malformed', words: printable(asText(text)) };
  }
}

/** Bytes kept one a character, read as UTF-8; invalid UTF-8 becomes U+FFFD. */
function asText(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
