import type { Envelope, InboundMail, ResolvedRecipient } from '../usecases/ports.js';
import { parseMail, parseRcpt } from './mail-command.js';
import { MessageIntake } from './message-intake.js';
import type { RefusalReason, SmtpListenerOptions } from './options.js';
import { replies, type SmtpReply } from './replies.js';

type Limits = Pick<SmtpListenerOptions, 'maxMessageBytes' | 'maxRecipients'>;

/** The parts of the envelope that belong to the session and not to the transaction. */
export type ClientFacts = Pick<Envelope, 'clientAddress' | 'helo'>;

interface Opened {
  readonly from: string;
  /** SIZE (RFC 1870); null without it. */
  readonly declaredBytes: number | null;
  readonly recipients: ResolvedRecipient[];
  /** To be called when the transaction is over. */
  readonly releases: (() => void)[];
}

/** The mail transaction of a session (RFC 5321 section 3.3): takes commands and returns their replies. */
export class MailTransaction {
  readonly #limits: Limits;
  readonly #inbound: InboundMail;
  readonly #noteRefusal: (reason: RefusalReason) => void;
  /** From an accepted MAIL to the final dot, RSET or EHLO. */
  #opened: Opened | null = null;

  constructor(limits: Limits, inbound: InboundMail, noteRefusal: (reason: RefusalReason) => void) {
    this.#limits = limits;
    this.#inbound = inbound;
    this.#noteRefusal = noteRefusal;
  }

  reset(): void {
    for (const release of this.#opened?.releases ?? []) release();
    this.#opened = null;
  }

  mail(line: string): SmtpReply {
    if (this.#opened !== null) return replies.nestedMail;
    const mail = parseMail(line);
    if ('code' in mail) return mail;
    const { reversePath, declaredBytes } = mail;
    if (declaredBytes !== null && declaredBytes > this.#limits.maxMessageBytes) {
      return this.#refuse('too_large', replies.tooLarge);
    }
    if (!this.#inbound.hasRoom()) return this.#refuse('no_room', replies.noRoom);
    this.#opened = { from: reversePath.written, declaredBytes, recipients: [], releases: [] };
    return replies.senderOk;
  }

  rcpt(line: string): SmtpReply {
    if (this.#opened === null) return replies.needMail;
    const path = parseRcpt(line);
    if ('code' in path) return path;
    const { recipients, releases, declaredBytes } = this.#opened;
    if (recipients.length >= this.#limits.maxRecipients) {
      return this.#refuse('too_many_recipients', replies.tooManyRecipients);
    }
    let recipient: ResolvedRecipient | null;
    let release: (() => void) | null;
    try {
      recipient = this.#inbound.resolveRecipient(path.address);
      if (recipient === null) return this.#refuse('unknown_recipient', replies.unknownRecipient);
      if (!this.#inbound.hasRoomFor(recipient)) return this.#refuse('no_room', replies.noRoom);
      release = this.#inbound.holdStorage(recipient, declaredBytes);
    } catch {
      return this.#refuse('store_error', replies.storeError);
    }
    if (release === null) return this.#refuse('mailbox_full', replies.mailboxFull);
    releases.push(release);
    recipients.push({ ...recipient, address: path.written });
    return replies.recipientOk;
  }

  /** Begins the message if DATA is to be answered with 354; else returns the reply that refuses it. */
  data(line: string): MessageIntake | SmtpReply {
    if (line.trim().length > 'DATA'.length) return replies.dataArgument;
    if (this.#opened === null) return replies.needMail;
    const { recipients } = this.#opened;
    if (recipients.length === 0) return replies.needRecipient;
    if (!this.#inbound.hasRoom()) return this.#refuse('no_room', replies.noRoom);
    try {
      return new MessageIntake(this.#inbound.begin(), this.#limits.maxMessageBytes);
    } catch {
      return this.#refuse('store_error', replies.storeError);
    }
  }

  /** Ends the transaction at the final dot and returns its envelope. */
  close(client: ClientFacts): Envelope {
    const { from, recipients } = this.#opened ?? { from: '', recipients: [] };
    this.reset();
    return { from, recipients, ...client };
  }

  #refuse(reason: RefusalReason, reply: SmtpReply): SmtpReply {
    this.#noteRefusal(reason);
    return reply;
  }
}
