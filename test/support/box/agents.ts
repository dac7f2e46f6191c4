import type { Store } from '../../../src/store/engine/store.js';
import { createAccount } from '../../../src/usecases/accounts/accounts.js';
import { createKey } from '../../../src/usecases/accounts/api-keys.js';
import type { ApiClient } from './api-client.js';
import type { PosternBox } from './postern-box.js';
import { openStore } from './store-facts.js';

/** An account with a key. */
export interface Account {
  readonly accountId: string;
  readonly email: string;
  readonly keyId: string;
  readonly credential: string;
  readonly api: ApiClient;
}

export interface Inbox {
  readonly id: string;
  readonly address: string;
}

/** An account with a key and one inbox: what most tests begin with. */
export interface TestAgent extends Account {
  readonly inboxId: string;
  readonly address: string;
}

/** Makes an account and a key beside the running daemon, as the command line does. */
export async function createAccountWithKey(box: PosternBox, email: string): Promise<Account> {
  const store = openStore(box);
  try {
    return await provision(box, store, email);
  } finally {
    await store.close();
  }
}

async function provision(box: PosternBox, store: Store, email: string): Promise<Account> {
  const deps = { store, clock: Date.now };
  const account = await createAccount(deps, email);
  const key = await createKey(deps, { account: account.account_id });
  const { credential, key_id: keyId } = key;
  return {
    accountId: account.account_id,
    email,
    keyId,
    credential,
    api: box.api(credential),
  };
}

/** Makes an inbox through the API. */
export async function createInbox(account: Account, localPart: string): Promise<Inbox> {
  const created = await account.api.post('/v1/inboxes', { local_part: localPart });
  if (created.status !== 201) throw new Error(`POST inbox: ${created.status} ${created.bytes.toString()}`);
  return created.json<Inbox>();
}

/** `agent` gets the account `agent@agents.example.net` and the inbox `agent@` in the box's domain. */
export async function createAgent(box: PosternBox, name = 'agent'): Promise<TestAgent> {
  const account = await createAccountWithKey(box, `${name}@agents.example.net`);
  const inbox = await createInbox(account, name);
  return { ...account, inboxId: inbox.id, address: inbox.address };
}
