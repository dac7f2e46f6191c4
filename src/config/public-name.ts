import { isIP } from 'node:net';

/** Names that no public authority vouches for (RFC 6761, RFC 6762, RFC 9476). */
const PRIVATE_NAME = /(?:^|\.)(?:localhost|local|localdomain|internal|lan|home\.arpa|invalid|alt|onion)$/;

/** Whether a host, as a URL has it, is a name on the Internet, for which an authority can issue a certificate. */
export function isPublicName(host: string): boolean {
  return isIP(host.replace(/^\[|\]$/g, '')) === 0 && host.includes('.') && !PRIVATE_NAME.test(host);
}
