import { createPrivateKey, createPublicKey } from 'node:crypto';
import { DKIM_ALGORITHMS } from '../../domain/dkim.js';
import { type Reader, walkTable } from '../engine/tables.js';
import { type DkimKeyRecord, dkimKeysTable } from '../records/dkim-keys.js';
import type { Ledger } from './ledger.js';

/** DKIM keys: each under its own name, of each algorithm one that signs at most, with the private part of its record. */
export function verifyDkimKeys(reader: Reader, ledger: Ledger): void {
  const signing = new Set<string>();
  for (const { key, value } of walkTable(reader, dkimKeysTable)) {
    const name = `DKIM key ${value.selector} of ${value.domain}`;
    if (!dkimKeysTable.encodeKey(value).equals(key)) ledger.expect(`${name} under its own name`);
    if (!DKIM_ALGORITHMS.includes(value.algorithm)) ledger.expect(`${name} of a known algorithm`);
    else if (!isPair(value)) ledger.expect(`${name} whose private part belongs to its record`);
    if (value.state !== 'active') continue;
    const place = `${value.algorithm} of ${value.domain}`;
    if (signing.has(place)) ledger.find(`a second DKIM key that signs with ${place}: ${value.selector}`);
    signing.add(place);
  }
}

function isPair(key: DkimKeyRecord): boolean {
  if (key.state !== 'new' && key.state !== 'active') return !('privateKey' in key);
  try {
    const privateKey = createPrivateKey({
      key: Buffer.from(key.privateKey, 'base64'),
      format: 'der',
      type: 'pkcs8',
    });
    const info = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
    // An Ed25519 key ends its SubjectPublicKeyInfo (RFC 8410 section 4), and an RSA key is all of it.
    const known = Buffer.from(key.publicKey, 'base64');
    return known.length > 0 && info.subarray(-known.length).equals(known);
  } catch {
    return false;
  }
}
