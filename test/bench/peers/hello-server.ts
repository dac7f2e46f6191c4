import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The minimal HTTP server on node. */

const server = createServer((_request, response) => {
  response.setHeader('Content-Length', '11');
  response.end('hello world');
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
