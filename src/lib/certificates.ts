import { X509Certificate } from 'node:crypto';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** The certificates of a text in PEM form (RFC 7468), in their order; none where there is none. @throws for a broken one */
export function certificatesIn(pem: string): X509Certificate[] {
  return (pem.match(CERTIFICATE) ?? []).map(one => new X509Certificate(one));
}

/** From when to when a certificate is valid, in milliseconds since the epoch. */
export function validityOf({ validFrom, validTo }: X509Certificate): {
  readonly validFromMs: number;
  readonly validToMs: number;
} {
  return { validFromMs: Date.parse(validFrom), validToMs: Date.parse(validTo) };
}
