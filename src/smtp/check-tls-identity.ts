import tls from 'node:tls';
import type { TlsIdentity } from './smtp-listener-options.js';

/** Throws unless the certificate and the key are well formed and belong together. */
export function checkTlsIdentity({ cert, key }: TlsIdentity): void {
  tls.createSecureContext({ cert, key });
}
