import { createPrivateKey } from 'node:crypto';
import { domainOf } from '../../domain/addresses.js';
import { type SigningKey, signMessage } from '../../mail/write/sign-message.js';
import { type DkimKeyIn, listDkimKeys } from '../../store/records/dkim-keys.js';
import type { MailSigner } from '../ports.js';
import { type DkimDeps, ensureDkimKeys } from './keys.js';

/** How long keys are taken for as they were read: the command line and the upkeep change them. */
const KEPT_MS = 1_000;

interface KeptKeys {
  readonly keys: Promise<readonly SigningKey[]>;
  readonly readAtMs: number;
}

export interface SignMailDeps extends DkimDeps {
  /** Our mail domains, lower case, A-labels: keys are made for no other. */
  readonly domains: readonly string[];
}

/**
 * Signs mail with the keys of the domain it is from (`signMessage`). No mail of a mail domain goes out unsigned for want
 * of keys: they are made when it has none. A domain that is none any more signs with those it has.
 * @param options `isRedated`: the server that gets the mail writes Message-ID and Date anew
 */
export function mailSigner(deps: SignMailDeps, { isRedated }: { readonly isRedated: boolean }): MailSigner {
  const kept = new Map<string, KeptKeys>();
  /** Those who come while keys are made wait for the same ones. */
  const keysOf = (domain: string): Promise<readonly SigningKey[]> => {
    const before = kept.get(domain);
    const nowMs = performance.now();
    if (before !== undefined && nowMs - before.readAtMs < KEPT_MS) return before.keys;
    const keys = readKeys(deps, domain, before?.keys);
    kept.set(domain, { keys, readAtMs: nowMs });
    keys.catch(() => {
      if (kept.get(domain)?.keys === keys) kept.delete(domain);
    });
    return keys;
  };
  return {
    async sign(content, from) {
      const domain = domainOf(from);
      return signMessage(content, await keysOf(domain), { date: deps.clock(), isRedated });
    },
  };
}

/** @param before keys as they were; those that are still there need not be decoded again */
async function readKeys(
  deps: SignMailDeps,
  domain: string,
  before: Promise<readonly SigningKey[]> | undefined,
): Promise<readonly SigningKey[]> {
  const known = (await before?.catch(() => [])) ?? [];
  let active = readActive(deps, domain);
  if (active.length === 0 && deps.domains.includes(domain)) {
    await ensureDkimKeys(deps, domain);
    active = readActive(deps, domain);
  }
  return active.map(key => known.find(({ selector }) => selector === key.selector) ?? usable(key));
}

function readActive({ store }: DkimDeps, domain: string): DkimKeyIn<'active'>[] {
  return store
    .read(reader => listDkimKeys(reader, domain))
    .filter((key): key is DkimKeyIn<'active'> => key.state === 'active');
}

function usable({ domain, selector, algorithm, privateKey }: DkimKeyIn<'active'>): SigningKey {
  const key = Buffer.from(privateKey, 'base64');
  return {
    domain,
    selector,
    algorithm,
    privateKey: createPrivateKey({ key, format: 'der', type: 'pkcs8' }),
  };
}
