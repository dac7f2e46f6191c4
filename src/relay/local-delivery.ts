import { codeOrReasonOf } from '../lib/async.js';
import {
  type Envelope,
  IN_PROCESS,
  type InboundMail,
  type IncomingBody,
  type RelayOutcome,
  type ResolvedRecipient,
} from '../usecases/ports.js';
import { BLOCK_BYTES } from './session/content.js';
import { rejected, unknown } from './smarthost/outcome.js';

export interface LocalDeliveryOptions {
  readonly inbound: InboundMail;
  /** Our host name; stands in the record where the name from a client's EHLO would. */
  readonly hostname: string;
  /** The limit of the SMTP listener; it applies here too. */
  readonly maxMessageBytes: number;
}

/** A message whose bytes are in the store and that nobody can see yet. Call exactly one of the two methods. */
export interface StagedMail {
  /** Delivers to all inboxes. `rejected`: nobody has it. `unknown`: the store failed in the commit. Never throws. */
  commit(): Promise<RelayOutcome>;
  /** Discards it. Never throws. */
  abort(): void;
}

/** The staged mail, or the outcome with which the message is refused. */
export type Staged =
  | { readonly ok: true; readonly mail: StagedMail }
  | { readonly ok: false; readonly outcome: RelayOutcome };

/** Delivers mail to our own inboxes within this process, through the same `InboundMail` as the SMTP listener. */
export class LocalDelivery {
  readonly #options: LocalDeliveryOptions;

  constructor(options: LocalDeliveryOptions) {
    this.#options = options;
  }

  /**
   * Checks that all recipients have inboxes that accept this sender, and writes the bytes to the store. Never throws.
   */
  async stage(
    from: string,
    addresses: readonly string[],
    content: Uint8Array,
    isNotice = false,
  ): Promise<Staged> {
    const { inbound, maxMessageBytes } = this.#options;
    let body: IncomingBody | null = null;
    const releases: (() => void)[] = [];
    try {
      const recipients = addresses.map(address => inbound.resolveRecipient(address));
      const resolved = recipients.filter(recipient => recipient !== null);
      if (resolved.length < recipients.length) {
        const missing = recipients.length - resolved.length;
        return refused(
          'E_RECIPIENT_REJECTED',
          `${missing} of the recipients in our own domains have no inbox`,
        );
      }
      const refusing = inbound.refusing(resolved, [from]).length;
      if (refusing > 0) {
        return refused(
          'E_RECIPIENT_REJECTED',
          `${refusing} of the recipients in our own domains do not accept mail from this sender`,
        );
      }
      if (content.length > maxMessageBytes) {
        return refused('E_MESSAGE_TOO_LARGE', `inboxes here take messages of up to ${maxMessageBytes} bytes`);
      }
      for (const recipient of resolved) {
        const release = inbound.holdStorage(recipient, content.length, isNotice);
        if (release === null)
          return refused('E_TEMPORARY_FAILURE', 'a recipient here stores as much as it may');
        releases.push(release);
      }
      if (!inbound.hasRoom() || !resolved.every(one => inbound.hasRoomFor(one)))
        return refused('E_TEMPORARY_FAILURE', NO_ROOM);
      body = inbound.begin();
      await writeAll(body, content);
      return { ok: true, mail: this.#staged(body, from, resolved) };
    } catch (error) {
      body?.abort();
      return refused(
        'E_TEMPORARY_FAILURE',
        `the store failed before the message was delivered: ${codeOrReasonOf(error)}`,
      );
    } finally {
      for (const release of releases) release();
    }
  }

  #staged(body: IncomingBody, from: string, recipients: readonly ResolvedRecipient[]): StagedMail {
    const helo = this.#options.hostname;
    const envelope: Envelope = { from, recipients, clientAddress: IN_PROCESS, helo };
    return {
      commit: () => commit(body, envelope),
      abort: () => body.abort(),
    };
  }
}

const NO_ROOM = 'there is no room for mail here for the time being';

async function commit(body: IncomingBody, envelope: Envelope): Promise<RelayOutcome> {
  try {
    const outcome = await body.commit(envelope);
    switch (outcome.status) {
      case 'accepted':
        return { status: 'accepted', detail: `delivered here: ${outcome.messageIds.join(', ')}` };
      case 'no_recipients':
        return rejected('E_RECIPIENT_REJECTED', 'the inboxes were deleted while the message came');
      case 'blocked':
      case 'unproven':
      case 'refused_by_domain':
        return rejected('E_RECIPIENT_REJECTED', 'the recipients do not accept mail from this sender');
      case 'no_room':
        return rejected('E_TEMPORARY_FAILURE', NO_ROOM);
      case 'check_later':
        return rejected('E_TEMPORARY_FAILURE', 'the author cannot be verified for the time being');
    }
  } catch (error) {
    return unknown(`the store failed while the message was delivered: ${codeOrReasonOf(error)}`);
  }
}

async function writeAll(body: IncomingBody, content: Uint8Array): Promise<void> {
  for (let from = 0; from < content.length; from += BLOCK_BYTES) {
    // A copy: the body keeps the buffers it is given, and these bytes are also sent to other recipients.
    const block = Buffer.from(content.subarray(from, from + BLOCK_BYTES));
    if (!body.write(block)) await body.drained();
  }
}

function refused(...[errorCode, detail]: Parameters<typeof rejected>): Staged {
  return { ok: false, outcome: rejected(errorCode, detail) };
}
