import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';

/**
 * Passes requests on to a port of this machine with a key: for programs that cannot send one. All else stays as it is,
 * Host and Origin included.
 * @returns its port
 */
export async function startKeyProxy(
  t: Test,
  target: () => { readonly port: number; readonly credential: string },
): Promise<number> {
  const server = createServer((incoming, response) => {
    const { method, url: path, headers } = incoming;
    const { port, credential } = target();
    const outgoing = request(
      {
        host: '127.0.0.1',
        port,
        method,
        path,
        headers: { ...headers, authorization: `Bearer ${credential}` },
      },
      answer => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    outgoing.on('error', () => response.destroy());
    incoming.pipe(outgoing);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}
