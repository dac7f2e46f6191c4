import { isEmailAddress } from '../domain/email-address.js';
import { type MessageId, newId } from '../domain/ids.js';
import type { Clock, Relay, SystemMail } from './ports.js';

/** A mail of plain text, as the composer takes it. */
export interface SystemMessage {
  readonly id: MessageId;
  /** Without angle brackets. */
  readonly messageId: string;
  /** Milliseconds since the epoch. */
  readonly date: number;
  readonly from: { readonly address: string; readonly name?: string };
  readonly to: readonly { readonly address: string }[];
  readonly cc: readonly [];
  readonly subject: string;
  readonly text: string;
  readonly html: null;
  readonly replyHeaders: null;
  readonly files: readonly [];
}

export interface SystemMailDeps {
  readonly relay: Relay;
  /** The whole message as transmitted: CRLF line ends, 7-bit, no line over 998 octets. */
  readonly compose: (message: SystemMessage) => Uint8Array;
  readonly clock: Clock;
  /** Whom such mail comes from; bounces come back there, to the operator. */
  readonly from: { readonly address: string; readonly name: string };
}

/** The relay has not taken a mail; `message` is its word for why. */
export class SystemMailError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'SystemMailError';
  }
}

/** Writes mail of the service itself and hands it to the relay, once. */
export function createSystemMail(deps: SystemMailDeps): SystemMail {
  const { relay, compose, clock, from } = deps;
  const domain = from.address.slice(from.address.lastIndexOf('@') + 1);
  return {
    async send({ to, subject, text }) {
      if (!isEmailAddress(to)) throw new SystemMailError('the recipient is no address');
      const nowMs = clock();
      const id = newId<MessageId>(nowMs);
      const content = compose({
        id,
        messageId: `${id}@${domain}`,
        date: nowMs,
        from,
        to: [{ address: to }],
        cc: [],
        subject,
        text,
        html: null,
        replyHeaders: null,
        files: [],
      });
      const outcome = await relay.submit({ id, envelope: { from: from.address, recipients: [to] }, content });
      // `unknown` may have arrived, and a second copy would do no harm: the human asks again where none came.
      if (outcome.status !== 'accepted') throw new SystemMailError(`${outcome.errorCode}: ${outcome.detail}`);
    },
  };
}
