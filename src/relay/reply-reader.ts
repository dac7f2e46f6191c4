import { isContinued, parseReply, printable, type Reply } from './reply.js';

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
    if (chunk.includes(0x0a)) {
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
