import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import {
  bitString,
  explicit,
  integer,
  objectId,
  octetString,
  sequence,
  set,
  tagged,
  utcTime,
  utf8String,
} from './der.js';

const ECDSA_WITH_SHA256 = sequence(objectId('1.2.840.10045.4.3.2'));
const EXTENSION_REQUEST = objectId('1.2.840.113549.1.9.14');
const SUBJECT_ALT_NAME = objectId('2.5.29.17');
const COMMON_NAME = objectId('2.5.4.3');

const HOUR_MS = 3_600_000;
/** Nobody trusts it for a day either; it is made anew at every start. */
const PLACEHOLDER_DAYS = 365;

/** A new key on P-256, which every authority and every mail server takes. */
export function newKey(): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey;
}

/** PKCS #8 in PEM form. */
export function keyToPem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }) as string;
}

/**
 * A request for a certificate (PKCS #10, RFC 2986) for these names. They stand in subjectAltName alone, as RFC 8555
 * section 7.4 allows; the subject is empty, for a common name may have 64 characters at most.
 * @returns DER
 */
export function certificateRequest(key: KeyObject, names: readonly string[]): Buffer {
  const attributes = sequence(EXTENSION_REQUEST, set(sequence(altNames(names))));
  const info = sequence(integer(Buffer.from([0])), sequence(), publicKeyOf(key), explicit(0, attributes));
  return signed(info, key);
}

export interface Placeholder {
  /** PEM. */
  readonly cert: string;
  readonly key: string;
}

/**
 * A certificate that nobody vouches for, to be served until an authority has issued one: mail servers that encrypt
 * without checking (RFC 7435) are not sent away in plain text meanwhile.
 */
export function selfSigned(names: readonly string[], nowMs: number): Placeholder {
  const key = newKey();
  const called = sequence(
    set(sequence(COMMON_NAME, utf8String('Postern: no authority has issued a certificate yet'))),
  );
  const info = sequence(
    explicit(0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    ECDSA_WITH_SHA256,
    called,
    sequence(utcTime(new Date(nowMs - HOUR_MS)), utcTime(new Date(nowMs + PLACEHOLDER_DAYS * 24 * HOUR_MS))),
    called,
    publicKeyOf(key),
    explicit(3, sequence(altNames(names))),
  );
  return { cert: toPem('CERTIFICATE', signed(info, key)), key: keyToPem(key) };
}

/** RFC 5280 section 4.2.1.6. */
function altNames(names: readonly string[]): Buffer {
  const list = sequence(...names.map(name => tagged(0x82, Buffer.from(name, 'ascii'))));
  return sequence(SUBJECT_ALT_NAME, octetString(list));
}

function publicKeyOf(key: KeyObject): Buffer {
  return createPublicKey(key).export({ type: 'spki', format: 'der' });
}

function signed(info: Buffer, key: KeyObject): Buffer {
  return sequence(info, ECDSA_WITH_SHA256, bitString(sign('sha256', info, key)));
}

function toPem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
