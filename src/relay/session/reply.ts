import { BYTE } from '../../lib/bytes.js';

/** A whole reply of a server (RFC 5321 section 4.2). */
export interface ServerReply {
  readonly code: number;
  /** Enhanced status code (RFC 2034, RFC 3463); null if there is none or its class differs from that of `code`. */
  readonly enhanced: string | null;
  /** The text of all lines as one printable line of at most about 400 characters. */
  readonly text: string;
}

/** The steps of a session, named after the command that was sent. CONTENT is before the final dot, DOT after it. */
export type Step = 'GREETING' | 'EHLO' | 'STARTTLS' | 'AUTH' | 'MAIL' | 'RCPT' | 'DATA' | 'CONTENT' | 'DOT';

/** A reply line (RFC 5321 section 4.2.1). SMTP does not use codes 1yz. */
const LINE = /^([2-5][0-9]{2})(?:([ -])(.*))?$/;
const ENHANCED = /^([245])\.\d{1,3}\.\d{1,3}(?=[ ]|$)/;
const MAX_TEXT = 400;

/** Parses the lines of a reply, given without line ends; null when they are not a well-formed reply. */
export function parseReply(lines: readonly string[]): ServerReply | null {
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

/** For the admin, such as `550 5.1.1 No such user`. */
export function describeReply({ code, enhanced, text }: ServerReply): string {
  return [String(code), enhanced ?? '', text].filter(part => part !== '').join(' ');
}

/** Makes one line without control characters from a server's text, cut to 400 characters for logs and records. */
export function printable(text: string): string {
  const clean = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}]+/gu, ' ').trim();
  return clean.length > MAX_TEXT ? `${clean.slice(0, MAX_TEXT)}...` : clean;
}

/** Anything longer is not a reply (RFC 5321 section 4.5.3.1.5: a line has at most 512 octets). */
export const MAX_REPLY_BYTES = 65_536;

export type ReadReply =
  | { readonly status: 'reply'; readonly reply: ServerReply }
  /** This is not SMTP, and what follows cannot be trusted either. */
  | { readonly status: 'malformed'; readonly words: string };

/** Assembles replies from bytes that come in pieces. A bare LF ends a line too, because some servers send it. */
export class ReplyReader {
  #rest = '';
  #lines: string[] = [];
  /** Bytes of the reply that is not complete yet. */
  #bytes = 0;
  #isMalformed = false;

  /** Takes the next bytes and returns the replies that they complete. After `malformed` nothing more is read. */
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

  /** The text of an incomplete reply; empty when there is none. */
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

/** Decodes a string of one byte per character as UTF-8; invalid UTF-8 becomes U+FFFD. */
function asText(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
