import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';
import type { Test } from 'tap';
import { PosternBox } from '../box/postern-box.js';
import { freePort } from '../redis/own-redis.js';
import { SmtpClient } from '../smtp/smtp-client.js';
import { AcmeServer, type AcmeServerOptions } from './acme-server.js';

export const HOST = 'api.example.org';
/** What the daemon says when it has one. */
export const ISSUED = /^a certificate was issued$/;

/** Of `postern tls status` and `postern status`, what tests look at. */
export interface Status {
  readonly certificates: readonly {
    readonly state: string;
    readonly names: readonly string[];
    readonly days_left: number | null;
    readonly failures: number;
    readonly error: { readonly type: string } | null;
  }[];
}

/** A box that has no certificate yet, not started, and the authority that it asks. */
export async function withAuthority(t: Test, options: Partial<AcmeServerOptions> = {}) {
  const acmePort = await freePort();
  const server = await AcmeServer.start(t, { proofPort: acmePort, ...options });
  const box = PosternBox.create(t, {
    env: {
      POSTERN_SERVICE_PUBLIC_URL: `https://${HOST}`,
      POSTERN_HTTP_TLS: 'acme',
      POSTERN_TLS_ACME: 'true',
      POSTERN_TLS_AGREE_TO_TERMS: 'true',
      POSTERN_TLS_DIRECTORY_URL: server.directoryUrl,
      POSTERN_TLS_ACME_HOST: '127.0.0.1',
      POSTERN_TLS_ACME_PORT: String(acmePort),
    },
  });
  return { box, server };
}

/** A connection that was checked against the authority. */
export async function overHttps(port: number, ca: string): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port, ca, servername: HOST });
  await once(socket, 'secureConnect');
  return socket;
}

/** The status line of an answer. */
export async function ask(socket: TLSSocket): Promise<string> {
  socket.write('GET /healthz HTTP/1.1\r\nHost: api.example.org\r\n\r\n');
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  return chunk.toString('latin1').slice(0, 12);
}

/** A session after STARTTLS. */
export async function overSmtp(port: number): Promise<SmtpClient> {
  const client = await SmtpClient.ready(port);
  await client.startTls();
  await client.command('EHLO client.example', 250);
  return client;
}

export const serialOf = (socket: TLSSocket): string => socket.getPeerCertificate().serialNumber;
