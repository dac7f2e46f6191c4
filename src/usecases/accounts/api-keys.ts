import { notFound } from '../../domain/errors.js';
import { type AccountId, type KeyId, newId, toId } from '../../domain/ids.js';
import { toInstant } from '../../domain/instants.js';
import { hashCredential, isCredential, newCredential } from '../../domain/secrets.js';
import { normaliseName } from '../../domain/text.js';
import type { Store } from '../../store/engine/store.js';
import type { Reader } from '../../store/engine/tables.js';
import { accessVersion } from '../../store/engine/writer.js';
import {
  type AccountRecord,
  type ApiKeyRecord,
  findKeyByHash,
  getAccount,
  getKey,
  listKeys,
  putNewKey,
  revokeKey,
} from '../../store/records/accounts.js';
import type { Clock } from '../ports.js';
import { findAccount } from './accounts.js';
import { recordAudit } from './audit.js';

type Deps = { readonly store: Store; readonly clock: Clock };

/** A key as the command line shows it; never the credential. */
export interface ApiKeyView {
  readonly key_id: string;
  readonly account_id: string;
  readonly name: string | null;
  readonly created_at: string;
  readonly revoked_at: string | null;
}

function viewKey(key: ApiKeyRecord): ApiKeyView {
  return {
    key_id: key.id,
    account_id: key.accountId,
    name: key.name,
    created_at: toInstant(key.createdAt),
    revoked_at: key.revokedAt === null ? null : toInstant(key.revokedAt),
  };
}

/** Issues a key. The credential is in this answer and nowhere else. */
export async function createKey(
  deps: Deps,
  input: { account: string; name?: string | undefined },
): Promise<{ key_id: string; credential: string }> {
  const name = normaliseName('name', input.name);
  return deps.store.write(writer => {
    const account = findAccount(writer, input.account);
    const nowMs = deps.clock();
    const credential = newCredential();
    const id = newId<KeyId>(nowMs);
    const accountId: AccountId = account.id;
    putNewKey(writer, { id, accountId, name, createdAt: nowMs, revokedAt: null }, hashCredential(credential));
    const { email } = account;
    recordAudit(writer, nowMs, { kind: 'key_created', email, accountId, keyId: id, detail: 'console' });
    return { key_id: id, credential };
  });
}

const MAX_LISTED = 10_000;

export function listAccountKeys(deps: { store: Store }, account: string): ApiKeyView[] {
  return deps.store.read(reader => {
    const found = findAccount(reader, account);
    return listKeys(reader, found.id, MAX_LISTED).map(viewKey);
  });
}

/** Cuts a key off; requests that come after this resolves are refused. Repeating it changes nothing. */
export async function revokeKeyById(deps: Deps, keyId: string): Promise<ApiKeyView> {
  return deps.store.write(writer => {
    const id = toId<KeyId>(keyId);
    const before = id === null ? undefined : getKey(writer, id);
    if (id === null || before === undefined) throw notFound(`key ${keyId}`);
    if (before.revokedAt !== null) return viewKey(before);
    const nowMs = deps.clock();
    revokeKey(writer, id, nowMs);
    const { accountId } = before;
    const email = getAccount(writer, accountId)?.email ?? null;
    recordAudit(writer, nowMs, { kind: 'key_revoked', email, accountId, keyId: id, detail: 'console' });
    return viewKey({ ...before, revokedAt: nowMs });
  }, 'settle');
}

function accountOf(reader: Reader, credentialHash: Buffer): AccountRecord | null {
  const key = findKeyByHash(reader, credentialHash);
  if (key === undefined || key.revokedAt !== null) return null;
  return getAccount(reader, key.accountId) ?? null;
}

/** Of live keys; an appliance has fewer. */
const MAX_REMEMBERED = 10_000;

/**
 * Finds the account behind a bearer credential; null for anything but a live key. What it found is good until
 * anything changes that decides about access, in this process or another. That is read afresh each time: a key
 * that was revoked is refused from the next request on.
 */
export function rememberingAuthenticator(deps: {
  store: Store;
}): (credential: string) => AccountRecord | null {
  const accounts = new Map<string, AccountRecord>();
  let version = -1;
  return credential => {
    if (!isCredential(credential)) return null;
    const credentialHash = hashCredential(credential);
    return deps.store.read(reader => {
      const now = accessVersion(reader);
      if (now !== version || accounts.size >= MAX_REMEMBERED) accounts.clear();
      version = now;
      const name = credentialHash.toString('latin1');
      const account = accounts.get(name) ?? accountOf(reader, credentialHash);
      if (account !== null) accounts.set(name, account);
      return account;
    });
  };
}
