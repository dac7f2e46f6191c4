import { normaliseDomain } from './addresses.js';
import { admits, type DkimAlgorithm } from './dkim.js';
import { readTags } from './tag-list.js';

/** How header or body are brought into the form that is hashed (RFC 6376 section 3.4). */
export type DkimForm = 'simple' | 'relaxed';

/** What the tags of a signature say (RFC 6376 section 3.5), or of an ARC-Message-Signature (RFC 8617 section 4.1.2). */
export interface DkimSignature {
  /** Lower case, A-labels. */
  readonly domain: string;
  readonly selector: string;
  readonly algorithm: DkimAlgorithm | 'rsa-sha1';
  readonly header: DkimForm;
  readonly body: DkimForm;
  /** In lower case. A name may be there more often than the field. */
  readonly signedNames: readonly string[];
  /** In base64. */
  readonly bodyHash: string;
  readonly signature: string;
  /** Octets of the body that count; null for all. */
  readonly bodyLength: number | null;
  /** Seconds since the epoch. */
  readonly expiresAt: number | null;
  readonly signedAt: number | null;
  /** Domain of the one for whom it is signed: `domain`, or one below it. */
  readonly identityDomain: string;
}

export type ReadSignature =
  | { readonly kind: 'read'; readonly signature: DkimSignature }
  /** It cannot be checked. What of it is shown, printable ASCII: empty where it does not say. */
  | {
      readonly kind: 'faulty';
      readonly domain: string;
      readonly selector: string;
      readonly algorithm: string;
    };

/** More names than any header has fields; each is looked for. */
const MAX_SIGNED_NAMES = 200;
/** In base64, of an RSA key of 4,096 bits and as much again. */
const MAX_SIGNATURE_LENGTH = 1_400;

const ALGORITHMS: readonly string[] = ['rsa-sha256', 'ed25519-sha256', 'rsa-sha1'] satisfies readonly (
  | DkimAlgorithm
  | 'rsa-sha1'
)[];

/** ARC leaves its default open; those who leave the tag out mean this (the tests of its authors say so too). */
const DEFAULT_FORMS = { dkim: 'simple/simple', arc: 'relaxed/relaxed' } as const;

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const NUMBER = /^[0-9]{1,15}$/;
const LABELS = /^[a-z0-9_](?:[a-z0-9_-]{0,62})(?:\.[a-z0-9_](?:[a-z0-9_-]{0,62}))*$/;

/**
 * Reads the tags of a signature.
 * @param value of the field, one character for each byte
 * @param kind `arc`: without a version and an identity
 */
export function readSignature(value: string, kind: 'dkim' | 'arc'): ReadSignature {
  const tags = readTags(value);
  const signature = tags === null ? null : signatureOf(tags, kind);
  if (signature !== null) return { kind: 'read', signature };
  const shown = (tag: string): string => (tags?.get(tag) ?? '').replace(/[^!-~]/g, '').slice(0, 253);
  return { kind: 'faulty', domain: shown('d').toLowerCase(), selector: shown('s'), algorithm: shown('a') };
}

function signatureOf(tags: ReadonlyMap<string, string>, kind: 'dkim' | 'arc'): DkimSignature | null {
  const signer = signerOf(tags);
  const [header, body = 'simple'] = (tags.get('c') ?? DEFAULT_FORMS[kind]).toLowerCase().split('/');
  const signedNames = (tags.get('h') ?? '')
    .toLowerCase()
    .split(':')
    .filter(name => name !== '');
  const bodyHash = tags.get('bh') ?? '';
  const times = [tags.get('l'), tags.get('x'), tags.get('t')].map(numberOf);
  const [bodyLength = null, expiresAt = null, signedAt = null] = times;
  if (signer === null || !isForm(header) || !isForm(body) || times.includes(undefined)) return null;
  if (kind === 'dkim' && tags.get('v') !== '1') return null;
  if (!admits(tags.get('q')?.toLowerCase(), ['dns/txt', 'dns'])) return null;
  if (signedNames.length > MAX_SIGNED_NAMES || !BASE64.test(bodyHash)) return null;
  // What does not sign From proves nothing about it (RFC 6376 section 5.4).
  if (kind === 'dkim' && !signedNames.includes('from')) return null;
  if (signedAt !== null && expiresAt !== null && expiresAt < signedAt) return null;
  const identity = kind === 'arc' ? undefined : tags.get('i');
  const identityDomain = identity === undefined ? signer.domain : identityDomainOf(identity);
  if (identityDomain === null || !isWithin(identityDomain, signer.domain)) return null;
  const { domain, selector, algorithm, signature } = signer;
  return {
    domain,
    selector,
    algorithm,
    header,
    body,
    signedNames,
    bodyHash,
    signature,
    bodyLength,
    expiresAt,
    signedAt,
    identityDomain,
  };
}

/** Who signs and how, and the signature itself: what all kinds of signatures have. */
export type Signer = Pick<DkimSignature, 'domain' | 'selector' | 'algorithm' | 'signature'>;

/** Null where one of them is missing, or no such thing. */
export function signerOf(tags: ReadonlyMap<string, string>): Signer | null {
  const domain = normaliseDomain(tags.get('d') ?? '');
  const selector = normaliseDomain(tags.get('s') ?? '');
  const algorithm = (tags.get('a') ?? '').toLowerCase();
  const signature = tags.get('b') ?? '';
  if (domain === null || !LABELS.test(domain) || selector === null || !LABELS.test(selector)) return null;
  if (domain.length + selector.length > 253 - '._domainkey.'.length) return null;
  if (!isAlgorithm(algorithm) || signature.length > MAX_SIGNATURE_LENGTH || !BASE64.test(signature))
    return null;
  return { domain, selector, algorithm, signature };
}

function isAlgorithm(text: string): text is DkimSignature['algorithm'] {
  return ALGORITHMS.includes(text);
}

function isForm(text: string | undefined): text is DkimForm {
  return text === 'simple' || text === 'relaxed';
}

/** Null for none, undefined for what is no number. */
function numberOf(text: string | undefined): number | null | undefined {
  if (text === undefined) return null;
  return NUMBER.test(text) ? Number(text) : undefined;
}

function identityDomainOf(identity: string): string | null {
  return normaliseDomain(identity.slice(identity.lastIndexOf('@') + 1));
}

function isWithin(domain: string, parent: string): boolean {
  return domain === parent || domain.endsWith(`.${parent}`);
}
