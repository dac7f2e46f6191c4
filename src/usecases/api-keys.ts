import { hashCredential, isCredential, newCredential } from '../domain/credential.js';
import { notFound, ok, type Result } from '../domain/errors.js';
import { type AccountId, type KeyId, newId, toId } from '../domain/ids.js';
import { toInstant } from '../domain/instants.js';
import { normaliseName } from '../domain/names.js';
import { type AccountRecord, getAccount } from '../store/accounts.js';
import {
  type ApiKeyRecord,
  findKeyByHash,
  getKey,
  listKeys,
  putNewKey,
  revokeKey,
} from '../store/api-keys.js';
import type { Store } from '../store/store.js';
import { findAccount } from './find-account.js';
import type { Clock } from './ports.js';

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
): Promise<Result<{ key_id: string; credential: string }>> {
  const name = normaliseName('name', input.name);
  if (!name.ok) return name;
  return deps.store.write(writer => {
    const account = findAccount(writer, input.account);
    if (!account.ok) return account;
    const nowMs = deps.clock();
    const credential = newCredential();
    const id = newId<KeyId>(nowMs);
    const accountId: AccountId = account.value.id;
    putNewKey(
      writer,
      { id, accountId, name: name.value, createdAt: nowMs, revokedAt: null },
      hashCredential(credential),
    );
    return ok({ key_id: id, credential });
  });
}

const MAX_LISTED = 10_000;

export function listAccountKeys(deps: { store: Store }, account: string): Result<ApiKeyView[]> {
  return deps.store.read(reader => {
    const found = findAccount(reader, account);
    return found.ok ? ok(listKeys(reader, found.value.id, MAX_LISTED).map(viewKey)) : found;
  });
}

/** Cuts a key off; requests that come after this resolves are refused. Repeating it changes nothing. */
export async function revokeKeyById(deps: Deps, keyId: string): Promise<Result<ApiKeyView>> {
  return deps.store.write(writer => {
    const id = toId<KeyId>(keyId);
    if (id === null || !revokeKey(writer, id, deps.clock())) return notFound(`key ${keyId}`);
    const key = getKey(writer, id);
    return key === undefined ? notFound(`key ${keyId}`) : ok(viewKey(key));
  });
}

/** The account behind a bearer credential; null for anything but a live key. */
export function authenticate(deps: { store: Store }, credential: string): AccountRecord | null {
  if (!isCredential(credential)) return null;
  return deps.store.read(reader => {
    const key = findKeyByHash(reader, hashCredential(credential));
    if (key === undefined || key.revokedAt !== null) return null;
    return getAccount(reader, key.accountId) ?? null;
  });
}
