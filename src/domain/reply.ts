import { MAX_RECIPIENTS, MAX_SUBJECT_BYTES } from '../contract/limits.js';
import type { ParsedAddress, ReceivedContent } from '../contract/messages.js';
import { toInboxAddress, toSendableAddress } from './addresses.js';
import { refuse, resultOf } from './errors.js';
import type { Mailbox, Recipients } from './message-parts.js';
import { cleanText, normaliseName, utf8Prefix } from './text.js';

/** Who gets a reply: its sender alone, or all who got the original too. */
export type ReplyScope = 'reply' | 'reply-all';

/** The message that is answered: the header of a received one, or what a sent one was submitted with. */
export type ReplySource =
  | {
      readonly kind: 'received';
      readonly content: Pick<ReceivedContent, 'from' | 'reply_to' | 'to' | 'cc' | 'subject'>;
    }
  | {
      readonly kind: 'sent';
      readonly submission: Pick<Recipients, 'to' | 'cc'> & { readonly subject: string };
    };

export interface DerivedReply extends Pick<Recipients, 'to' | 'cc'> {
  readonly subject: string;
}

/**
 * Recipients and subject of a reply (`replyMessage`, `replyAllMessage`). A group counts as its members. Addresses
 * that differ only in letter case count once. The inbox that replies is left out, under its `+tag` addresses too.
 * Bcc of the original is ignored. Addresses are brought into the form of `toSendableAddress`; nobody is left out
 * because there is no such form: then there is no answer. An entry without an `@` is no address.
 * @param inboxAddress address of the inbox that replies
 * @param given lists that replace the derived ones, even when they are empty
 * @throws `reply_recipients_unavailable` when nobody is left, or for an address that mail cannot be sent to;
 * `invalid_message` for more than `MAX_RECIPIENTS`
 */
export function deriveReply(
  scope: ReplyScope,
  source: ReplySource,
  inboxAddress: string,
  given: Partial<Recipients> = {},
): DerivedReply {
  const derived = answerTo(scope, source, inboxAddress);
  const { to = derived.to, cc = derived.cc, bcc = [] } = given;
  const unsendable = [
    ...(given.to === undefined ? derived.unsendable.to : []),
    ...(given.cc === undefined ? derived.unsendable.cc : []),
  ];
  if (unsendable.length > 0) {
    throw refuse(
      'reply_recipients_unavailable',
      `Mail cannot be sent from here to ${listed(unsendable)}, which the answer would go to; send a new message with in_reply_to to the recipients you choose.`,
    );
  }
  const isAddressed = given.to !== undefined || given.cc !== undefined;
  if (derived.to.length === 0 && !isAddressed) {
    throw refuse(
      'reply_recipients_unavailable',
      'Nobody but this inbox is left to answer; send a new message to the recipients you mean instead.',
    );
  }
  const count = to.length + cc.length + bcc.length;
  if (count > MAX_RECIPIENTS) {
    throw refuse(
      'invalid_message',
      `The answer would go to ${count} recipients, and ${MAX_RECIPIENTS} is the most; use reply, or send a message to the recipients you choose with in_reply_to.`,
    );
  }
  const { subject } = source.kind === 'received' ? source.content : source.submission;
  return { to, cc, subject: replySubject(subject) };
}

/** Addresses that a refusal names; an original may have thousands, each as long as its header. */
const MAX_LISTED = 5;
const MAX_LISTED_LENGTH = 100;

function listed(addresses: readonly string[]): string {
  const named = addresses
    .slice(0, MAX_LISTED)
    .map(address =>
      address.length > MAX_LISTED_LENGTH ? `${address.slice(0, MAX_LISTED_LENGTH)}...` : address,
    );
  const more = addresses.length - named.length;
  return cleanText(`${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`).toWellFormed();
}

interface Answer extends Targets {
  /** Addresses of To and of Cc that mail cannot be sent to. */
  readonly unsendable: { readonly to: readonly string[]; readonly cc: readonly string[] };
}

/** The derived To and Cc. When only Cc has recipients left, the first of them moves to To, which may not be empty. */
function answerTo(scope: ReplyScope, source: ReplySource, inboxAddress: string): Answer {
  const { to, cc } = scope === 'reply' ? replyTargets(source) : replyAllTargets(source);
  const recipients = new AnswerableRecipients(inboxAddress);
  const answered = recipients.take(to);
  const copied = recipients.take(cc);
  const unsendable = { to: answered.unsendable, cc: copied.unsendable };
  return answered.mailboxes.length > 0
    ? { to: answered.mailboxes, cc: copied.mailboxes, unsendable }
    : { to: copied.mailboxes.slice(0, 1), cc: copied.mailboxes.slice(1), unsendable };
}

interface Targets {
  readonly to: readonly Mailbox[];
  readonly cc: readonly Mailbox[];
}

function replyTargets(source: ReplySource): Targets {
  if (source.kind === 'sent') return { to: source.submission.to, cc: [] };
  const { reply_to: replyTo, from } = source.content;
  const asked = mailboxesOf(replyTo);
  // A Reply-To without any address counts as absent (RFC 5322 section 3.6.2).
  return { to: asked.length > 0 ? asked : mailboxesOf(from === null ? [] : [from]), cc: [] };
}

function replyAllTargets(source: ReplySource): Targets {
  if (source.kind === 'sent') return source.submission;
  const { to, cc } = source.content;
  return { to: [...replyTargets(source).to, ...mailboxesOf(to)], cc: mailboxesOf(cc) };
}

/** All mailboxes that have an address, unlike `undisclosed-recipients`; groups are replaced by their members. */
export function mailboxesOf(addresses: readonly ParsedAddress[]): Mailbox[] {
  return addresses
    .flatMap(entry => ('group' in entry ? entry.group : [entry]))
    .filter(({ address }) => address.includes('@'));
}

/** Lets each address but that of the inbox itself through, once. */
class AnswerableRecipients {
  readonly #seen = new Set<string>();
  readonly #own: string;

  constructor(inboxAddress: string) {
    this.#own = canonical(inboxAddress);
  }

  take(given: readonly Mailbox[]): { mailboxes: readonly Mailbox[]; unsendable: readonly string[] } {
    const mailboxes: Mailbox[] = [];
    const unsendable: string[] = [];
    for (const { address: written, name } of given) {
      const address = toSendableAddress(written);
      const key = (address ?? written).toLowerCase();
      if (this.#seen.has(key) || canonical(address ?? written) === this.#own) continue;
      this.#seen.add(key);
      if (address === null) {
        unsendable.push(written);
      } else {
        const usable = usableName(name);
        mailboxes.push(usable === null ? { address } : { address, name: usable });
      }
    }
    return { mailboxes, unsendable };
  }
}

/** Equal for all addresses that reach the same inbox. */
function canonical(address: string): string {
  const inbox = toInboxAddress(address);
  return inbox === null ? address.toLowerCase() : `${inbox.localPart}@${inbox.domain}`;
}

/** A name from a header in the form that an agent could give it: without controls; null when it is too long. */
function usableName(name: string | undefined): string | null {
  const usable = resultOf(() => normaliseName('name', cleanText(name ?? '').toWellFormed()));
  return usable.ok ? usable.value : null;
}

/** For an original without a subject: a message that is sent needs one. */
const NO_SUBJECT = '(no subject)';

/** The subject of a reply: `Re: ` and the original's, unless that begins with `Re:` already. */
export function replySubject(subject: string | null): string {
  return prefixed(subject, /^re\s*:/i, 'Re: ');
}

/** The subject of a forward: `Fwd: ` and the original's, unless that begins with `Fw:` or `Fwd:` already. */
export function forwardSubject(subject: string | null): string {
  return prefixed(subject, /^fwd?:/i, 'Fwd: ');
}

/** Always a valid subject: no controls, and cut at its end to `MAX_SUBJECT_BYTES`. */
function prefixed(subject: string | null, isPrefixed: RegExp, prefix: string): string {
  const clean = cleanText(subject ?? '').toWellFormed() || NO_SUBJECT;
  return utf8Prefix(isPrefixed.test(clean) ? clean : prefix + clean, MAX_SUBJECT_BYTES).trimEnd();
}
