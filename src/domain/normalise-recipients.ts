import { isEmailAddress } from './email-address.js';
import { fail, ok, type Result } from './errors.js';
import { normaliseName } from './names.js';
import type { Mailbox, Recipients } from './submission.js';

/** A mailbox as it was given; the JSON schema has seen to its shape. */
export interface MailboxInput {
  readonly address: string;
  readonly name?: string | undefined;
}

export interface RecipientsInput {
  readonly to?: readonly MailboxInput[] | undefined;
  readonly cc?: readonly MailboxInput[] | undefined;
  readonly bcc?: readonly MailboxInput[] | undefined;
}

/** To, Cc and Bcc together (specification, SendInput rule 1). */
export const MAX_RECIPIENTS = 50;

/**
 * Checks recipients and trims their names (specification, "Mailbox"). An address is kept as given, letter case
 * included: what is checked here is what the envelope says.
 * @returns at most 50 of them, none at all included; `invalid_message` or `invalid_name`
 */
export function normaliseRecipients(input: RecipientsInput): Result<Recipients> {
  const to = normaliseMailboxes('to', input.to ?? []);
  if (!to.ok) return to;
  const cc = normaliseMailboxes('cc', input.cc ?? []);
  if (!cc.ok) return cc;
  const bcc = normaliseMailboxes('bcc', input.bcc ?? []);
  if (!bcc.ok) return bcc;
  const excess = checkRecipientCount(to.value, cc.value, bcc.value);
  if (excess !== null) return excess;
  return ok({ to: to.value, cc: cc.value, bcc: bcc.value });
}

/** Refuses more than fifty entries; null when there are not. */
export function checkRecipientCount(...lists: readonly (readonly Mailbox[])[]) {
  const count = lists.reduce((sum, list) => sum + list.length, 0);
  return count <= MAX_RECIPIENTS
    ? null
    : fail(
        'invalid_message',
        `to, cc and bcc have ${count} entries together; at most ${MAX_RECIPIENTS} are allowed.`,
      );
}

/** Checks one list of recipients; `field` is named in errors. */
export function normaliseMailboxes(
  field: string,
  given: readonly MailboxInput[],
): Result<readonly Mailbox[]> {
  const mailboxes: Mailbox[] = [];
  for (const [index, { address, name: givenName }] of given.entries()) {
    if (!isEmailAddress(address)) {
      return fail(
        'invalid_message',
        `${field}[${index}].address must be one bare ASCII address like name@example.org, without a display name.`,
      );
    }
    const name = normaliseName(`${field}[${index}].name`, givenName);
    if (!name.ok) return name;
    mailboxes.push(name.value === null ? { address } : { address, name: name.value });
  }
  return ok(mailboxes);
}

/** Every entry in the order of To, Cc and Bcc, repeats included: what is charged and what rules look at. */
export function addressesOf({ to, cc, bcc }: Recipients): string[] {
  return [...to, ...cc, ...bcc].map(({ address }) => address);
}

/**
 * The forward-paths of the envelope: each address once, in order. Letter case of the domain does not make
 * another address (RFC 5321 section 2.4), that of the local part does.
 */
export function envelopeRecipients(recipients: Recipients): string[] {
  const paths = new Map<string, string>();
  for (const address of addressesOf(recipients)) {
    const at = address.lastIndexOf('@');
    const identity = address.slice(0, at) + address.slice(at).toLowerCase();
    if (!paths.has(identity)) paths.set(identity, address);
  }
  return [...paths.values()];
}
