import { BYTE } from '../lib/bytes.js';
import type { AcceptOutcome, Envelope, IncomingBody } from '../usecases/ports.js';
import { DataScanner } from './data-scanner.js';
import type { RefusalReason } from './options.js';
import { accepted, refusedByDomain, replies, type SmtpReply } from './replies.js';

/** More than that are taken for a mail loop; RFC 5321 section 6.3 asks for a limit of at least 100. */
const MAX_RECEIVED_LINES = 100;

export interface IntakeRefusal {
  readonly reply: SmtpReply;
  readonly reason: RefusalReason;
}

export type IntakeStep =
  /** The next chunk may come. */
  | { readonly status: 'more' }
  /** The store has to catch up: wait for `drained()` before the next chunk. */
  | { readonly status: 'full' }
  /** The final dot has come; `rest` is what the client sent after it. `commit` must follow. */
  | { readonly status: 'end'; readonly rest: Buffer }
  /** The session must end now: reply and close without reading on. */
  | { readonly status: 'hang_up'; readonly refusal: IntakeRefusal };

/** The reply to the final dot. */
export type Verdict =
  | { readonly isAccepted: true; readonly reply: SmtpReply }
  | { readonly isAccepted: false; readonly refusal: IntakeRefusal };

const MORE: IntakeStep = { status: 'more' };
const FULL: IntakeStep = { status: 'full' };
const LINE_ENDING: IntakeStep = {
  status: 'hang_up',
  refusal: { reply: replies.badLineEnding, reason: 'line_ending' },
};
const TOO_LARGE: IntakeStep = {
  status: 'hang_up',
  refusal: { reply: replies.tooLarge, reason: 'too_large' },
};
const LOOP: IntakeRefusal = { reply: replies.mailLoop, reason: 'mail_loop' };
const STORE_ERROR: IntakeRefusal = { reply: replies.storeError, reason: 'store_error' };

/**
 * One message from DATA to the reply to its final dot. Bytes go to the store as they come. However the message ends,
 * exactly one of `commit` and `abort` of the body is called. 250 is sent only if the commit resolved with `accepted`.
 *
 * Bad line endings and too many bytes end the session at once. After a mail loop or a failure of the store, the rest of
 * the message is read and dropped, and the refusal is the reply to the final dot: the client has kept to the protocol.
 */
export class MessageIntake {
  readonly #scanner = new DataScanner();
  readonly #received = new ReceivedCounter();
  readonly #maxBytes: number;
  /** Null once it has been committed or aborted. */
  #body: IncomingBody | null;
  #refusal: IntakeRefusal | null = null;
  #bytes = 0;

  constructor(body: IncomingBody, maxBytes: number) {
    this.#body = body;
    this.#maxBytes = maxBytes;
  }

  /** Bytes of the message so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Takes a chunk from the network and overwrites it. */
  take(chunk: Buffer): IntakeStep {
    const scan = this.#scanner.feed(chunk);
    if (scan.status === 'fault') return this.#hangUp(LINE_ENDING);
    this.#bytes += scan.content.length;
    if (this.#bytes > this.#maxBytes) return this.#hangUp(TOO_LARGE);
    const mayGoOn = scan.content.length === 0 || this.#store(scan.content);
    if (scan.status === 'end') return { status: 'end', rest: scan.rest };
    return mayGoOn ? MORE : FULL;
  }

  /** Resolves when the next chunk may come. If the store failed meanwhile, the message will be refused. */
  async drained(): Promise<void> {
    try {
      await this.#body?.drained();
    } catch {
      this.#refuse(STORE_ERROR);
    }
  }

  /** The reply to the final dot. Never rejects. */
  async commit(envelope: Envelope): Promise<Verdict> {
    const body = this.#body;
    if (body === null) return { isAccepted: false, refusal: this.#refusal ?? STORE_ERROR };
    this.#body = null;
    try {
      return verdict(await body.commit(envelope));
    } catch {
      return { isAccepted: false, refusal: STORE_ERROR };
    }
  }

  /** Discards the message unless it has been committed. May be called at any time. */
  abort(): void {
    const body = this.#body;
    this.#body = null;
    body?.abort();
  }

  #store(content: Buffer): boolean {
    if (this.#body === null) return true;
    this.#received.feed(content);
    if (this.#received.count > MAX_RECEIVED_LINES) {
      this.#refuse(LOOP);
      return true;
    }
    try {
      return this.#body.write(content);
    } catch {
      this.#refuse(STORE_ERROR);
      return true;
    }
  }

  #refuse(refusal: IntakeRefusal): void {
    this.#refusal = refusal;
    this.abort();
  }

  #hangUp(step: IntakeStep): IntakeStep {
    this.abort();
    return step;
  }
}

function verdict(outcome: AcceptOutcome): Verdict {
  switch (outcome.status) {
    case 'accepted':
      return { isAccepted: true, reply: accepted(outcome.messageIds[0]) };
    case 'no_recipients':
      return { isAccepted: false, refusal: { reply: replies.unknownRecipient, reason: 'no_recipients' } };
    case 'blocked':
      return { isAccepted: false, refusal: { reply: replies.blockedSender, reason: 'sender_blocked' } };
    case 'unproven':
      return { isAccepted: false, refusal: { reply: replies.unprovenAuthor, reason: 'author_unproven' } };
    case 'refused_by_domain':
      return {
        isAccepted: false,
        refusal: { reply: refusedByDomain(outcome.domain), reason: 'refused_by_domain' },
      };
    case 'check_later':
      return { isAccepted: false, refusal: { reply: replies.checkLater, reason: 'author_unknown' } };
    case 'no_room':
      return { isAccepted: false, refusal: { reply: replies.noRoom, reason: 'no_room' } };
  }
}

const { TAB, LF, CR, SPACE, COLON } = BYTE;
const NAME = 'received';

/** The rest of this line cannot make it a Received line. */
const NO_MATCH = -1;

/**
 * Counts the Received fields in the header of a message (RFC 5321 section 6.3). The content may come in pieces of any
 * size, with CRLF line ends. The body is ignored.
 */
export class ReceivedCounter {
  #count = 0;
  #isHeader = true;
  /** How many letters of the field name this line has matched, or NO_MATCH. */
  #matched = 0;

  get count(): number {
    return this.#count;
  }

  feed(content: Buffer): void {
    let pos = 0;
    while (this.#isHeader && pos < content.length) {
      if (this.#matched === NO_MATCH) {
        const lf = findLf(content, pos);
        if (lf < 0) return;
        pos = lf + 1;
        this.#matched = 0;
      } else {
        this.#step(content[pos] ?? LF);
        pos += 1;
      }
    }
  }

  #step(byte: number): void {
    if (this.#matched === NAME.length) {
      // Obsolete syntax allows white space before the colon (RFC 5322 section 4.5).
      if (byte === SPACE || byte === TAB) return;
      if (byte === COLON) this.#count += 1;
      this.#matched = NO_MATCH;
    } else if ((byte | 0x20) === NAME.charCodeAt(this.#matched)) {
      this.#matched += 1;
    } else {
      // An empty line ends the header.
      if (this.#matched === 0 && byte === CR) this.#isHeader = false;
      this.#matched = NO_MATCH;
    }
  }
}

/** A header may be megabytes of short lines. A native search for each would be slow, so it starts with a loop. */
function findLf(content: Buffer, from: number): number {
  const stop = Math.min(from + 8, content.length);
  for (let pos = from; pos < stop; pos++) if (content[pos] === LF) return pos;
  return content.indexOf(LF, stop);
}
