import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:https';
import type { Test } from 'tap';
import { makeCertificate } from '../certificate.js';
import { temporaryFolder } from '../redis/redis.js';

/** A reverse proxy that takes TLS off, as an operator puts one in front; closed after the test. */
export async function startTlsProxy(
  t: Test,
  options: { readonly port: number; readonly target: number; readonly clientAddress: string },
): Promise<void> {
  const { POSTERN_SMTP_TLS_CERT: cert = '', POSTERN_SMTP_TLS_KEY: key = '' } = makeCertificate(
    temporaryFolder(t),
  );
  const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (incoming, response) => {
    const headers = {
      ...incoming.headers,
      'x-forwarded-for': `198.51.100.1, ${options.clientAddress}`,
      'x-forwarded-proto': 'https',
    };
    const { method, url: path } = incoming;
    const outgoing = request({ host: '127.0.0.1', port: options.target, method, path, headers }, answer => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(response);
    });
    outgoing.on('error', () => void response.destroy());
    incoming.pipe(outgoing);
  });
  await new Promise<void>(resolve => server.listen(options.port, '127.0.0.1', resolve));
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
}
