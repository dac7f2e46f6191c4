import { MAX_RECIPIENTS, MAX_SUBJECT_BYTES } from '../contract/limits.js';
import type { ParsedAddress, ReceivedContent } from '../contract/messages.js';
import { isEmailAddress, toMailboxAddress } from './addresses.js';
import { refuse, resultOf } from './errors.js';
import type { Mailbox, Recipients } from './message-parts.js';
import { cleanText, normaliseName, utf8Prefix } from './text.js';

/** Whom an answer goes to. */
export type ReplyScope = 'reply' | 'reply-all';

/** What is answered: of a received message its header, of a sent one what it was sent with. */
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
 * Recipients and subject of an answer (wire contract 3.13). Groups count as their members, an address as one
 * whatever its letter case, and the inbox that answers is left out, also by its `+tag` addresses. Bcc of the
 * original is not looked at. An address that our own grammar refuses is left out: nothing but what was
 * checked reaches a relay.
 * @param inboxAddress of the inbox that answers
 * @param given lists that take the place of those that are derived, empty ones too
 * @returns `reply_recipients_unavailable` when nobody is left, `invalid_message` when too many are
 */
export function deriveReply(
  scope: ReplyScope,
  source: ReplySource,
  inboxAddress: string,
  given: Partial<Recipients> = {},
): DerivedReply {
  const derived = answerTo(scope, source, inboxAddress);
  const { to = derived.to, cc = derived.cc, bcc = [] } = given;
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

/** Whom an answer goes to; where only copied ones are left, the first of them is addressed. */
function answerTo(scope: ReplyScope, source: ReplySource, inboxAddress: string): Targets {
  const { to, cc } = scope === 'reply' ? replyTargets(source) : replyAllTargets(source);
  const recipients = new AnswerableRecipients(inboxAddress);
  const answered = recipients.take(to);
  const copied = recipients.take(cc);
  return answered.length > 0 ? { to: answered, cc: copied } : { to: copied.slice(0, 1), cc: copied.slice(1) };
}

interface Targets {
  readonly to: readonly Mailbox[];
  readonly cc: readonly Mailbox[];
}

function replyTargets(source: ReplySource): Targets {
  if (source.kind === 'sent') return { to: source.submission.to, cc: [] };
  const { reply_to: replyTo, from } = source.content;
  const asked = flatten(replyTo);
  // A Reply-To without any address says nothing (RFC 5322 section 3.6.2).
  return { to: asked.length > 0 ? asked : flatten(from === null ? [] : [from]), cc: [] };
}

function replyAllTargets(source: ReplySource): Targets {
  if (source.kind === 'sent') return source.submission;
  const { to, cc } = source.content;
  return { to: [...replyTargets(source).to, ...flatten(to)], cc: flatten(cc) };
}

/** The mailboxes that have an address, members of groups among them. */
function flatten(addresses: readonly ParsedAddress[]): Mailbox[] {
  return addresses
    .flatMap(entry => ('group' in entry ? entry.group : [entry]))
    .filter(({ address }) => address !== '');
}

/** Lets each address through once. */
class AnswerableRecipients {
  readonly #seen = new Set<string>();
  readonly #own: string;

  constructor(inboxAddress: string) {
    this.#own = meaningOf(inboxAddress);
  }

  take(mailboxes: readonly Mailbox[]): Mailbox[] {
    const taken: Mailbox[] = [];
    for (const { address, name } of mailboxes) {
      const key = address.toLowerCase();
      if (this.#seen.has(key) || !isEmailAddress(address) || meaningOf(address) === this.#own) continue;
      this.#seen.add(key);
      const usable = usableName(name);
      taken.push(usable === null ? { address } : { address, name: usable });
    }
    return taken;
  }
}

/** Equal for addresses that reach one inbox of ours. */
function meaningOf(address: string): string {
  const mailbox = toMailboxAddress(address);
  return mailbox === null ? address.toLowerCase() : `${mailbox.localPart}@${mailbox.domain}`;
}

/** A name of the header as an agent may write it: without controls, and none where it is over-long. */
function usableName(name: string | undefined): string | null {
  const usable = resultOf(() => normaliseName('name', cleanText(name ?? '').toWellFormed()));
  return usable.ok ? usable.value : null;
}

/** A subject has to be there and not to be blank (specification, SendInput). */
const NO_SUBJECT = '(no subject)';

/** Of an answer: `Re: ` before it, unless it begins with that already (wire contract 3.13). */
export function replySubject(subject: string | null): string {
  return derived(subject, /^re\s*:/i, 'Re: ');
}

/** Of a forward: `Fwd: ` before it, unless it begins with `Fw:` or `Fwd:` (specification, ForwardInput rule 3). */
export function forwardSubject(subject: string | null): string {
  return derived(subject, /^fwd?:/i, 'Fwd: ');
}

/** Passes the checks of a subject whatever `subject` is: no controls, at most 998 bytes, shortened at its end. */
function derived(subject: string | null, isPrefixed: RegExp, prefix: string): string {
  const clean = cleanText(subject ?? '').toWellFormed() || NO_SUBJECT;
  return utf8Prefix(isPrefixed.test(clean) ? clean : prefix + clean, MAX_SUBJECT_BYTES).trimEnd();
}
