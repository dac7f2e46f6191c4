import { createHash, X509Certificate } from 'node:crypto';
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls';
import type { TlsaRecord } from './route.js';

/** Usages that SMTP knows (RFC 7672 section 3.1): an authority of the domain's own, and the server's certificate. */
const DANE_TA = 2;
const DANE_EE = 3;
/** Extended key usage for servers (RFC 5280 section 4.2.1.12). */
const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
const MAX_CHAIN = 10;

/** What a TLSA record matches, by its selector: the whole certificate, or its public key (RFC 6698 section 2.1.2). */
const selectors: readonly ((certificate: X509Certificate) => Buffer)[] = [
  certificate => certificate.raw,
  certificate => certificate.publicKey.export({ type: 'spki', format: 'der' }),
];

/** In which form, by its matching type (RFC 6698 section 2.1.3). */
const matchings: readonly ((bytes: Buffer) => Buffer)[] = [
  bytes => bytes,
  bytes => createHash('sha256').update(bytes).digest(),
  bytes => createHash('sha512').update(bytes).digest(),
];

/**
 * The records that can authenticate a mail server. Usages 0 and 1 cannot (RFC 7672 section 3.1.3). When records are
 * there and none is usable, TLS is still demanded, with any certificate (section 2.2).
 */
export function usableRecords(records: readonly TlsaRecord[]): readonly TlsaRecord[] {
  return records.filter(
    ({ usage, selector, matchingType, data }) =>
      (usage === DANE_TA || usage === DANE_EE) &&
      selectors[selector] !== undefined &&
      matchings[matchingType] !== undefined &&
      data.length > 0,
  );
}

/**
 * Is the server of this session the one that its TLSA records speak of? DANE-EE binds the certificate alone: neither
 * its names nor its dates count (RFC 7672 section 3.1.1). With DANE-TA the certificate must be for the host and lead up
 * to the authority (section 3.1.2).
 * @param host the name to which the records belong
 * @returns what is wrong, or null
 */
export function daneFault(records: readonly TlsaRecord[], socket: TLSSocket, host: string): string | null {
  const chain = chainOf(socket);
  const [leaf] = chain;
  if (leaf === undefined) return 'DANE: the server shows no certificate';
  const isEntity = records.some(record => record.usage === DANE_EE && isMatch(record, leaf));
  if (isEntity) return null;
  const authorities = records.filter(({ usage }) => usage === DANE_TA);
  const top = chain.findIndex((one, at) => at > 0 && authorities.some(record => isMatch(record, one)));
  if (top < 0) return `DANE: no TLSA record of ${host} matches its certificate`;
  return pathFault(chain.slice(0, top + 1), host);
}

function isMatch({ selector, matchingType, data }: TlsaRecord, certificate: X509Certificate): boolean {
  const select = selectors[selector];
  const form = matchings[matchingType];
  if (select === undefined || form === undefined) return false;
  return form(select(certificate)).equals(data);
}

/** From the certificate of the server upwards, as far as it sent it. */
function chainOf(socket: TLSSocket): readonly X509Certificate[] {
  const chain: X509Certificate[] = [];
  let next: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true);
  while (next?.raw !== undefined && chain.length < MAX_CHAIN) {
    chain.push(new X509Certificate(next.raw));
    // One that has signed itself is its own issuer.
    next = next.issuerCertificate === next ? undefined : next.issuerCertificate;
  }
  return chain;
}

/** What is wrong with a path of certificates whose last one is trusted (RFC 5280 section 6.1); null: nothing. */
function pathFault(path: readonly X509Certificate[], host: string): string | null {
  const [leaf] = path;
  if (leaf?.checkHost(host) === undefined) return `DANE: the certificate is not for ${host}`;
  // The extended key usages; absent means any.
  const usages: readonly string[] | undefined = leaf.keyUsage;
  if (usages !== undefined && !usages.includes(SERVER_AUTH))
    return 'DANE: the certificate is not for servers';
  const nowMs = Date.now();
  for (const [at, certificate] of path.entries()) {
    if (nowMs < Date.parse(certificate.validFrom) || nowMs > Date.parse(certificate.validTo)) {
      return 'DANE: a certificate has expired or is not valid yet';
    }
    const issuer = path[at + 1];
    if (issuer === undefined) continue;
    if (!issuer.ca || !certificate.checkIssued(issuer) || !certificate.verify(issuer.publicKey)) {
      return 'DANE: the certificates do not lead up to the authority';
    }
  }
  return null;
}
