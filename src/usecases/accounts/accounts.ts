import type { InboxAllowance } from '../../contract/inboxes.js';
import { isEmailAddress, isInDomains } from '../../domain/addresses.js';
import { notFound, refuse } from '../../domain/errors.js';
import { type AccountId, type InboxId, newId, toId } from '../../domain/ids.js';
import { toInstant } from '../../domain/instants.js';
import { getMeta, putMeta } from '../../store/engine/meta.js';
import type { Store } from '../../store/engine/store.js';
import type { Reader, Writer } from '../../store/engine/tables.js';
import {
  type AccountPermissions,
  type AccountRecord,
  findAccountByEmail,
  getAccount,
  putAccount,
  scanAccounts,
} from '../../store/records/accounts.js';
import { usedAllowance } from '../../store/records/charges.js';
import { countInboxes, findAddress, putNewInbox } from '../../store/records/inboxes.js';
import { storedBytes } from '../../store/records/storage.js';
import { builtInPostmaster, inboxHas, type MailDomains } from '../inbound/recipients.js';
import type { Clock } from '../ports.js';
import { MIB, storageLimitOf } from '../shared/storage.js';

export interface AccountView {
  readonly account_id: string;
  readonly email: string;
  readonly created_at: string;
}

export function viewAccount(account: AccountRecord): AccountView {
  return { account_id: account.id, email: account.email, created_at: toInstant(account.createdAt) };
}

/** Makes an account for a human, by email address. Refused when that email has one, or is the address of an inbox. */
export async function createAccount(
  deps: { store: Store; clock: Clock },
  email: string,
): Promise<AccountView> {
  if (!isEmailAddress(email)) {
    throw refuse(
      'invalid_request',
      `${JSON.stringify(email)} is not an email address like name@example.org.`,
    );
  }
  return deps.store.write(writer => {
    if (findAccountByEmail(writer, email) !== undefined) {
      throw refuse('invalid_request', `There is an account for ${email} already.`);
    }
    checkNoInboxHas(writer, email);
    return viewAccount(addAccount(writer, { email, nowMs: deps.clock(), isOperator: false }));
  });
}

/**
 * The email of an account is its human's: the agents of an inbox must not read the mail to it.
 * @throws `invalid_request`
 */
export function checkNoInboxHas(reader: Reader, email: string): void {
  if (!inboxHas(reader, email)) return;
  throw refuse(
    'invalid_request',
    `${email} is the address of an inbox here, whose agents read the mail to it. Name the human's own address, or delete that inbox first.`,
  );
}

/** What an admin is to know of an email address that an account got; null for nothing. */
export function warningOfEmail(email: string, mailDomains: readonly string[]): string | null {
  if (!isInDomains(email, mailDomains)) return null;
  return `${email} is in a mail domain of this service, where agents make inboxes: no link to approve access is ever mailed to it. Approve with "postern approve ${email}", or give the human an account with an address elsewhere.`;
}

export function addAccount(
  writer: Writer,
  input: { email: string; nowMs: number; isOperator: boolean },
): AccountRecord {
  const account: AccountRecord = {
    id: newId<AccountId>(input.nowMs),
    email: input.email,
    createdAt: input.nowMs,
    permissions: { send: true, delete: true, restore: true },
    inboxLimit: null,
    sendLimit: null,
    storageLimitMib: null,
    isOperator: input.isOperator,
  };
  putAccount(writer, account);
  return account;
}

/** The account that an admin names by email address or id. */
export function findAccount(reader: Reader, emailOrId: string): AccountRecord {
  const id = toId<AccountId>(emailOrId);
  // What cannot be an email is no account's, and may be longer than a key of the store.
  const byEmail = isEmailAddress(emailOrId) ? findAccountByEmail(reader, emailOrId) : undefined;
  const account = id === null ? byEmail : getAccount(reader, id);
  if (account === undefined) throw notFound(`account ${emailOrId}`);
  return account;
}

const PAGE = 1000;

/** Every account by creation; an appliance has few. */
export function listAccounts(deps: { store: Store }): AccountView[] {
  const accounts: AccountRecord[] = [];
  let after: AccountId | null = null;
  for (;;) {
    const from: AccountId | null = after;
    const page: AccountRecord[] = deps.store.read(reader => scanAccounts(reader, from, PAGE));
    accounts.push(...page);
    after = page.at(-1)?.id ?? null;
    if (page.length < PAGE) return accounts.map(viewAccount);
  }
}

/** What an account gets where nothing else is set for it. */
export interface DefaultLimits {
  readonly inboxes: number;
  readonly sends: number;
  readonly storageMib: number;
}

export function inboxAllowance(
  reader: Reader,
  account: AccountRecord,
  limits: DefaultLimits,
): InboxAllowance {
  const allowance = account.inboxLimit ?? limits.inboxes;
  const used = countInboxes(reader, account.id);
  return { allowance, used, remaining: Math.max(0, allowance - used), unit: 'inbox_slots' };
}

/** What an account may use and uses; `sends` is recipient-deliveries in 24 hours, `storage_mib` is in MiB. */
export interface AllowanceView {
  readonly account_id: string;
  readonly email: string;
  readonly inboxes: AllowanceOf;
  readonly sends: AllowanceOf;
  readonly storage_mib: AllowanceOf;
}

interface AllowanceOf {
  readonly allowance: number;
  readonly used: number;
  /** True when the value follows the configuration. */
  readonly is_default: boolean;
}

type Deps = { readonly store: Store; readonly clock: Clock; readonly limits: DefaultLimits };

/** The most that an allowance can be set to, of inboxes, of sends and of MiB. */
export const MAX_ALLOWANCE = 1_000_000;

export function showAllowance(deps: Deps, account: string): AllowanceView {
  return deps.store.read(reader => {
    const found = findAccount(reader, account);
    return view(reader, found, deps);
  });
}

/** Sets caps of one account; what is absent stays. Applies to the next request. */
export async function setAllowance(
  deps: Deps,
  input: {
    account: string;
    inboxes?: number | undefined;
    sends?: number | undefined;
    storageMib?: number | undefined;
  },
): Promise<AllowanceView> {
  const { inboxes, sends, storageMib: storage_mib } = input;
  for (const [name, value] of Object.entries({ inboxes, sends, storage_mib })) {
    if (value !== undefined && !(Number.isInteger(value) && value >= 0 && value <= MAX_ALLOWANCE)) {
      throw refuse('invalid_request', `${name} must be a whole number from 0 to ${MAX_ALLOWANCE}.`);
    }
  }
  return deps.store.write(writer => {
    const found = findAccount(writer, input.account);
    const account: AccountRecord = {
      ...found,
      inboxLimit: input.inboxes ?? found.inboxLimit,
      sendLimit: input.sends ?? found.sendLimit,
      storageLimitMib: input.storageMib ?? found.storageLimitMib ?? null,
    };
    putAccount(writer, account);
    return view(writer, account, deps);
  }, 'settle');
}

function view(reader: Reader, account: AccountRecord, { limits, clock }: Deps): AllowanceView {
  const { allowance, used } = inboxAllowance(reader, account, limits);
  return {
    account_id: account.id,
    email: account.email,
    inboxes: { allowance, used, is_default: account.inboxLimit === null },
    sends: {
      allowance: account.sendLimit ?? limits.sends,
      used: usedAllowance(reader, account.id, clock()),
      is_default: account.sendLimit === null,
    },
    storage_mib: {
      allowance: storageLimitOf(account, limits),
      used: Math.round((storedBytes(reader, account.id) / MIB) * 10) / 10,
      is_default: (account.storageLimitMib ?? null) === null,
    },
  };
}

export interface PermissionsView extends AccountPermissions {
  readonly account_id: string;
  readonly email: string;
}

/** What is absent stays. */
export type PermissionChange = Partial<AccountPermissions>;

/** Switches what the agents of an account may do, and says what that is. Holds from the next request on. */
export async function setPermissions(
  deps: { store: Store },
  input: { account: string; permissions: PermissionChange },
): Promise<PermissionsView> {
  return deps.store.write(writer => {
    const found = findAccount(writer, input.account);
    const permissions = { ...found.permissions, ...input.permissions };
    putAccount(writer, { ...found, permissions });
    return { account_id: found.id, email: found.email, ...permissions };
  }, 'settle');
}

/**
 * Makes the operator account and its postmaster inbox where they are missing: mail for `postmaster@` and `abuse@` has a
 * home from the first start (RFC 5321 section 4.5.1, RFC 2142).
 */
export async function ensureOperator(deps: { store: Store; clock: Clock; mail: MailDomains }): Promise<void> {
  const address = builtInPostmaster(deps.mail);
  if (deps.store.read(reader => findAddress(reader, address)) !== undefined) return;
  await deps.store.write(writer => {
    if (findAddress(writer, address) !== undefined) return;
    const nowMs = deps.clock();
    const [localPart = '', domain = ''] = address.split('@');
    putNewInbox(writer, {
      id: newId<InboxId>(nowMs),
      accountId: operatorAccount(writer, address, nowMs),
      localPart,
      domain,
      name: 'Postmaster',
      senderName: null,
      createdAt: nowMs,
    });
  }, 'settle');
}

/** The one operator account, made at the first call; it keeps its inboxes when the mail domain changes. */
function operatorAccount(writer: Writer, address: string, nowMs: number): AccountId {
  const known = getMeta(writer, 'operator');
  if (known !== undefined) return known;
  // An admin may have given the usual email to an account of their own.
  const isTaken = findAccountByEmail(writer, address) !== undefined;
  const email = isTaken ? `operator-${newId(nowMs)}@${address.split('@')[1] ?? 'localhost'}` : address;
  const { id } = addAccount(writer, { email, nowMs, isOperator: true });
  putMeta(writer, 'operator', id);
  return id;
}
