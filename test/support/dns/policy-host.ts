import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { makeIdentity } from '../certificate.js';

export interface PolicyHost {
  readonly port: number;
  /** Its certificate, which is an authority of its own. */
  readonly ca: string;
  readonly caFile: string;
  /** Host and path of every request. */
  readonly asked: string[];
  /** What it answers from now on: the text of a policy, or whatever this does. */
  answer: string | ((request: IncomingMessage, response: ServerResponse) => void);
}

/**
 * An HTTPS server on loopback that publishes MTA-STS policies (RFC 8461).
 * @param names of its certificate, as `DNS:mta-sts.example.com`
 */
export async function startPolicyHost(
  t: Test,
  names: string,
  policy = '',
  place: { readonly address: string; readonly port: number } = { address: '127.0.0.1', port: 0 },
): Promise<PolicyHost> {
  const folder = mkdtempSync(join(tmpdir(), 'postern-policy-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const { cert, key, certFile } = makeIdentity(folder, names);
  const server = createServer({ cert, key }, (request, response) => {
    host.asked.push(`${request.headers.host} ${request.url}`);
    if (typeof host.answer !== 'string') return host.answer(request, response);
    response.setHeader('content-type', 'text/plain; charset=utf-8');
    response.end(host.answer);
  });
  server.on('tlsClientError', () => undefined);
  server.listen(place.port, place.address);
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  const host: PolicyHost = {
    port: (server.address() as AddressInfo).port,
    ca: cert,
    caFile: certFile,
    asked: [],
    answer: policy,
  };
  return host;
}
