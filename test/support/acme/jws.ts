import { createHash, createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto';

/** A request to an authority, its signature checked (RFC 8555 section 6.2). */
export interface SignedRequest {
  readonly nonce: string;
  readonly url: string;
  /** Of one who has no account yet. */
  readonly jwk: JsonWebKey | null;
  readonly kid: string | null;
  /** Null for POST-as-GET. */
  readonly payload: Readonly<Record<string, unknown>> | null;
}

/** Throws unless the body is a flattened JWS, signed with ES256 by its own key or by that of the account it names. */
export function readSigned(body: string, keyOf: (kid: string) => KeyObject | undefined): SignedRequest {
  const { protected: head, payload, signature } = JSON.parse(body) as Record<string, string>;
  if (head === undefined || payload === undefined || signature === undefined) throw new Error('no JWS');
  const header = JSON.parse(decode(head)) as {
    alg: string;
    nonce: string;
    url: string;
    jwk?: JsonWebKey;
    kid?: string;
  };
  if (header.alg !== 'ES256') throw new Error(`alg is ${header.alg}`);
  if ((header.jwk === undefined) === (header.kid === undefined)) throw new Error('jwk or kid, and not both');
  const key =
    header.kid === undefined
      ? createPublicKey({ key: header.jwk as JsonWebKey, format: 'jwk' })
      : keyOf(header.kid);
  if (key === undefined) throw new Error('unknown account');
  const isRight = verify(
    'sha256',
    Buffer.from(`${head}.${payload}`),
    { key, dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  );
  if (!isRight) throw new Error('the signature is wrong');
  return {
    nonce: header.nonce,
    url: header.url,
    jwk: header.jwk ?? null,
    kid: header.kid ?? null,
    payload: payload === '' ? null : (JSON.parse(decode(payload)) as Record<string, unknown>),
  };
}

/** RFC 7638. */
export function thumbprintOf(key: KeyObject): string {
  const { crv, kty, x, y } = key.export({ format: 'jwk' });
  return createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
}

function decode(text: string): string {
  return Buffer.from(text, 'base64url').toString('utf8');
}
