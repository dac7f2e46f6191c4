import { claimedDmarc, MAX_ARC_SETS } from '../../domain/arc.js';
import type { ArcCheck, DkimResult } from '../../domain/authentication.js';
import {
  type DkimForm,
  type DkimSignature,
  readSignature,
  type Signer,
  signerOf,
} from '../../domain/dkim-signatures.js';
import { readTags } from '../../domain/tag-list.js';
import { type HeaderLine, valueOfField } from './header-lines.js';
import type { Resolve } from './lookups.js';
import { checkSignature, checkSigned, type HashedBodies, type PendingCheck } from './signatures.js';
import { canonicalField, type FieldsByName, withoutSignature } from './signed-header.js';

/** One set of a chain (RFC 8617 section 4.2): what somebody who handed the message on has added. */
interface ArcSet {
  readonly results: HeaderLine;
  readonly message: HeaderLine;
  readonly seal: HeaderLine;
  readonly signature: DkimSignature;
  readonly sealer: Signer;
  readonly cv: string;
}

/** The chain of a message; `broken` where there is one, and it is not of the form that it must have. */
export type ArcChain =
  | { readonly kind: 'none' }
  | { readonly kind: 'broken'; readonly sealer: string | null }
  | { readonly kind: 'chain'; readonly sets: readonly ArcSet[] };

const NAMES = ['arc-authentication-results', 'arc-message-signature', 'arc-seal'] as const;

/** Puts the sets together and looks at their form (RFC 8617 section 5.2, steps 1 to 3). */
export function readArcChain(fields: FieldsByName): ArcChain {
  const [results = [], messages = [], seals = []] = NAMES.map(name => fields.get(name) ?? []);
  const count = seals.length;
  if (count + messages.length + results.length === 0) return { kind: 'none' };
  const broken = { kind: 'broken', sealer: newestSealer(seals) } as const;
  if (count > MAX_ARC_SETS || messages.length !== count || results.length !== count) return broken;
  const sets: ArcSet[] = [];
  const byInstance = [results, messages, seals].map(of => new Map(of.map(one => [instanceOf(one), one])));
  for (let instance = 1; instance <= count; instance++) {
    const [result, message, seal] = byInstance.map(of => of.get(instance));
    const set = result && message && seal ? readSet(result, message, seal) : null;
    if (set === null || set.cv !== (instance === 1 ? 'none' : 'pass')) return broken;
    sets.push(set);
  }
  return { kind: 'chain', sets };
}

function readSet(results: HeaderLine, message: HeaderLine, seal: HeaderLine): ArcSet | null {
  const read = readSignature(valueOfField(message), 'arc');
  const tags = readTags(valueOfField(seal));
  const sealer = tags === null ? null : signerOf(tags);
  if (read.kind !== 'read' || tags === null || sealer === null || tags.has('h')) return null;
  const { signature } = read;
  if (signature.signedNames.includes('arc-seal')) return null;
  if (sealer.algorithm === 'rsa-sha1' || signature.algorithm === 'rsa-sha1') return null;
  return { results, message, seal, signature, sealer, cv: (tags.get('cv') ?? '').toLowerCase() };
}

/** The tag `i`, which comes first in the results; 0 where it is no number. */
function instanceOf(field: HeaderLine): number {
  const value = valueOfField(field);
  const written =
    field.key === 'arc-authentication-results'
      ? /^[ \t\r\n]*i[ \t\r\n]*=[ \t\r\n]*([0-9]{1,3})[ \t\r\n]*(?:;|$)/.exec(value)?.[1]
      : readTags(value)?.get('i');
  return written !== undefined && /^[0-9]{1,3}$/.test(written) ? Number(written) : 0;
}

function newestSealer(seals: readonly HeaderLine[]): string | null {
  const newest = seals.reduce<HeaderLine | null>(
    (best, seal) => (best === null || instanceOf(seal) > instanceOf(best) ? seal : best),
    null,
  );
  const tags = newest === null ? null : readTags(valueOfField(newest));
  return (tags === null ? null : signerOf(tags)?.domain) ?? null;
}

export function formsNeededByChain(chain: ArcChain): readonly DkimForm[] {
  const newest = chain.kind === 'chain' ? chain.sets.at(-1) : undefined;
  return newest === undefined ? [] : [newest.signature.body];
}

/**
 * Checks the newest signature over the message, and every seal (RFC 8617 section 5.2, steps 4 to 6).
 * @param trustedSealers domains whose chains the operator believes; lower case, A-labels
 */
export function checkArcChain(
  chain: ArcChain,
  fields: FieldsByName,
  bodies: HashedBodies,
  { nowMs, trustedSealers }: { readonly nowMs: number; readonly trustedSealers: readonly string[] },
): (resolve: Resolve) => Promise<ArcCheck> {
  if (chain.kind !== 'chain') {
    const sealer = chain.kind === 'broken' ? chain.sealer : null;
    const result = chain.kind === 'broken' ? 'fail' : 'none';
    return async () => ({ result, sealer, trusted: false, dmarc: null });
  }
  const { sets } = chain;
  const newest = sets.at(-1);
  const checks: PendingCheck[] = [];
  if (newest !== undefined) {
    checks.push(checkSignature(newest.signature, newest.message, fields, bodies, nowMs));
  }
  let sealed = '';
  for (const { results, message, seal, sealer } of sets) {
    sealed += `${canonicalField(results, 'relaxed')}\r\n${canonicalField(message, 'relaxed')}\r\n`;
    const signed = sealed + canonicalField(withoutSignature(seal), 'relaxed');
    checks.push(checkSigned(sealer, signed, sealer.domain));
    sealed += `${canonicalField(seal, 'relaxed')}\r\n`;
  }
  const sealer = newest?.sealer.domain ?? null;
  const dmarc = newest === undefined ? null : claimedDmarc(valueOfField(newest.results));
  return async resolve => {
    const result = resultOf(await Promise.all(checks.map(check => check(resolve))));
    const trusted = result === 'pass' && sealer !== null && trustedSealers.includes(sealer);
    return { result, sealer, trusted, dmarc };
  };
}

function resultOf(results: readonly DkimResult[]): ArcCheck['result'] {
  if (results.every(result => result === 'pass')) return 'pass';
  return results.every(result => result === 'pass' || result === 'temperror') ? 'temperror' : 'fail';
}
