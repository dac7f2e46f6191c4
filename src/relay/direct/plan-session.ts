import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import { SessionFailure } from '../session/session-failure.js';
import type { SessionPlan } from '../session/session-opening.js';
import { daneFault, usableRecords } from './dane.js';
import type { DirectOptions } from './options.js';
import type { MailHost, TlsDemand } from './route.js';

export type HostAddress = MailHost['addresses'][number];

/** `plain`: a handshake has failed where any certificate would have done. */
export type Security = TlsDemand | 'dane' | 'plain';

/**
 * What the session with a host has to be like. DANE goes before MTA-STS (RFC 8461 section 2). TLSA records of which
 * none is usable demand TLS, and leave the certificate to what else is demanded (RFC 7672 section 2.2).
 */
export function securityFor({ dane }: MailHost, demand: TlsDemand): Security {
  if (dane === null || dane.length === 0) return demand;
  if (usableRecords(dane).length > 0) return 'dane';
  return demand === 'opportunistic' ? 'require' : demand;
}

/** Sessions with the same key are as good as each other: same host, address, and security. */
export function sessionKey(host: MailHost, { address }: HostAddress, security: Security): string {
  const records = security === 'dane' ? recordsDigest(host) : '';
  return [host.name, address, security, records].join(' ');
}

function recordsDigest({ dane }: MailHost): string {
  const hash = createHash('sha256');
  for (const { usage, selector, matchingType, data } of dane ?? []) {
    hash.update(Buffer.of(usage, selector, matchingType)).update(data);
  }
  return hash.digest('base64');
}

/**
 * How a session with one address of a host is set up.
 * @throws SessionFailure when mail must not lead to the address
 */
export function planSession(
  host: MailHost,
  { address, family }: HostAddress,
  security: Security,
  options: DirectOptions,
): SessionPlan {
  // A name instead of an address would be looked up, past the check.
  if (isIP(address) !== family || !options.mayConnect(address)) {
    throw new SessionFailure(
      'unreachable',
      `${host.name} has an address that mail must not lead to: ${address}`,
    );
  }
  const { port, sourceAddresses, hostname, connectMs, silenceMs, ca } = options;
  const source = family === 4 ? sourceAddresses.ipv4 : sourceAddresses.ipv6;
  const records = usableRecords(host.dane ?? []);
  return {
    host: host.name,
    endpoint: { host: address, port, family, ...(source === null ? {} : { localAddress: source }) },
    security: librarySecurity(security),
    tls: {
      servername: host.name,
      minVersion: 'TLSv1.2',
      rejectUnauthorized: security === 'verify',
      ...(ca === null ? {} : { ca }),
    },
    checkPeer: security === 'dane' ? socket => daneFault(records, socket, host.name) : null,
    login: null,
    hostname,
    connectMs,
    silenceMs,
  };
}

function librarySecurity(security: Security): SessionPlan['security'] {
  if (security === 'plain') return 'none';
  return security === 'opportunistic' ? 'opportunistic' : 'starttls';
}
