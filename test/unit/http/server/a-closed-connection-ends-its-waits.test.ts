import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';
import t from 'tap';
import { selfSigned } from '../../../../src/acme/certificate-request.js';
import { withServer } from '../with-server.js';

const NAME = 'api.example.org';
const certificate = selfSigned([NAME], Date.now());

const isTrue = async (holds: () => boolean) => {
  while (!holds()) await new Promise(resolve => setImmediate(resolve));
};

async function secured(port: number): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port, ca: certificate.cert, servername: NAME });
  socket.on('error', () => {});
  await once(socket, 'secureConnect');
  return socket;
}

const WAIT = '/v1/events?after=now&wait=50';

function waits(credential: string, accept: string, count: number): string {
  const path = accept === 'text/event-stream' ? '/v1/events' : WAIT;
  const head = `Host: x\r\nAuthorization: Bearer ${credential}\r\nAccept: ${accept}\r\n\r\n`;
  return `GET ${path} HTTP/1.1\r\n${head}`.repeat(count);
}

for (const tls of [undefined, certificate]) {
  for (const accept of ['text/event-stream', 'application/json']) {
    t.test(
      `${tls === undefined ? 'HTTP' : 'HTTPS'}, ${accept}: also those whose turn had not come`,
      async t => {
        const { socket, port, credential, events, logged } = await withServer(t, [], {}, tls);
        const { waiters } = events;
        const client = tls === undefined ? await socket() : await secured(port);
        client.resume().write(waits(credential, accept, 16));
        await isTrue(() => waiters.count === 16);
        client.destroy();
        await isTrue(() => waiters.count === 0);
        t.strictSame(logged, []);
      },
    );
  }
}

t.test('those that are held begin no more', async t => {
  const { house, socket, credential, events } = await withServer(t);
  const { waiters } = events;
  const client = await socket();
  client.resume().write(waits(credential, 'text/event-stream', 20));
  await isTrue(() => waiters.count === 16);
  client.destroy();
  // While some are held the socket is not read: that it is closed is seen when an answer is written.
  for (let n = 0; waiters.count > 0; n++) await house.addInbox(`agent-${n}`);
  await new Promise(resolve => setTimeout(resolve, 50));
  t.equal(waiters.count, 0);
});
