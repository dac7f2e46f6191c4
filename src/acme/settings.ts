import { join } from 'node:path';
import type { Config } from '../config/load-config.js';
import { isPublicName } from '../config/public-name.js';

/** What a certificate is asked for, of whom, and where it is kept. */
export interface AcmeSettings {
  /** The first is that of the mail server. */
  readonly names: readonly string[];
  readonly directoryUrl: string;
  readonly contactEmail: string | null;
  /** For its owner alone: keys of accounts, the certificate with its key, how the last tries went. */
  readonly folder: string;
  readonly host: string;
  /** 0: none, the HTTP listener answers behind a proxy. */
  readonly port: number;
}

/** Null when the configuration asks for no certificate. */
export function acmeSettings({ tls, mail, service, store }: Config): AcmeSettings | null {
  if (!tls.acme) return null;
  return {
    names: certificateNames(mail.hostname, service.publicUrl),
    directoryUrl: tls.directoryUrl,
    contactEmail: tls.contactEmail,
    folder: join(store.path, 'tls'),
    host: tls.acmeHost,
    port: tls.acmePort,
  };
}

/** The listeners that serve the certificate of the authority. */
export function servedBy({ smtp, http }: Config): readonly ('smtp' | 'http')[] {
  return [
    ...(smtp.tlsCert === null ? (['smtp'] as const) : []),
    ...(http.tls === 'acme' ? (['http'] as const) : []),
  ];
}

/** The mail server, and the host of the public URL where an authority can vouch for it. */
export function certificateNames(hostname: string, publicUrl: string): readonly string[] {
  const host = new URL(publicUrl).hostname.toLowerCase();
  return isPublicName(host) && host !== hostname ? [hostname, host] : [hostname];
}
