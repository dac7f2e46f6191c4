import { once } from 'node:events';
import { request } from 'node:https';
import { connect as connectPlain, type Socket } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import t from 'tap';
import { selfSigned } from '../../../../src/acme/certificate-request.js';
import { withServer } from '../with-server.js';

const NAME = 'api.example.org';
const first = selfSigned([NAME], Date.now());
const second = selfSigned([NAME], Date.now());

async function secure(port: number, ca: string, options: object = {}): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port, ca, servername: NAME, ...options });
  socket.on('error', () => {});
  await once(socket, 'secureConnect');
  return socket;
}

/** A reset is an end, too. */
function closedOf(socket: Socket): Promise<void> {
  return new Promise(resolve => void socket.once('close', () => resolve()));
}

/** One request on a connection that stays open; the status of its answer. */
async function ask(socket: TLSSocket): Promise<number> {
  socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  return Number(chunk.toString('latin1').slice(9, 12));
}

t.test('requests are answered over TLS 1.2 and 1.3, and not over what is older', async t => {
  const { port } = await withServer(t, [], {}, first);
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const socket = await secure(port, first.cert, { minVersion: version, maxVersion: version });
    t.equal(socket.getProtocol(), version);
    t.equal(await ask(socket), 200);
    t.equal(await ask(socket), 200, 'on the same connection');
    socket.destroy();
  }
  const old = connect({
    host: '127.0.0.1',
    port,
    ca: first.cert,
    minVersion: 'TLSv1',
    maxVersion: 'TLSv1.1',
    ciphers: 'ALL:@SECLEVEL=0',
  });
  const [error] = await once(old, 'error');
  t.match(error.message, /alert|protocol|version/i);
});

t.test('a body arrives whole', async t => {
  const { port, credential } = await withServer(t, [], {}, first);
  const body = JSON.stringify({ local_part: 'another-agent' });
  const outgoing = request({
    host: '127.0.0.1',
    port,
    ca: first.cert,
    servername: NAME,
    method: 'POST',
    path: '/v1/inboxes',
    headers: { Authorization: `Bearer ${credential}`, 'Content-Type': 'application/json' },
    agent: false,
  });
  outgoing.end(body);
  const [response] = await once(outgoing, 'response');
  t.equal(response.statusCode, 201);
  response.resume();
  await once(response, 'end');
});

t.test('plain HTTP and nonsense get no answer, and harm nobody', async t => {
  const { port } = await withServer(t, [], {}, first);
  for (const bytes of ['GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n', 'x'.repeat(70_000)]) {
    const plain = connectPlain({ host: '127.0.0.1', port });
    plain.on('error', () => {});
    let heard = '';
    plain.on('data', chunk => {
      heard += chunk.toString('latin1');
    });
    plain.write(bytes);
    await closedOf(plain);
    t.notMatch(heard, /HTTP/);
  }
  const socket = await secure(port, first.cert);
  t.equal(await ask(socket), 200);
  socket.destroy();
});

t.test('what cannot be read after the handshake is answered in our form', async t => {
  const { port } = await withServer(t, [], {}, first);
  const socket = await secure(port, first.cert);
  socket.write('nonsense\r\n\r\n');
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  t.match(chunk.toString('latin1'), /^HTTP\/1\.1 400 [\s\S]*invalid_request/);
  socket.destroy();
});

t.test('handshakes that do not end take the places of one network, and give way to others', async t => {
  const { port } = await withServer(t, [], { maxClients: 6, maxClientsPerNetwork: 3 }, first);
  const hanging = Array.from({ length: 5 }, () =>
    connectPlain({ host: '127.0.0.1', port, localAddress: '127.0.0.9' }),
  );
  let closed = 0;
  for (const socket of hanging)
    socket
      .on('error', () => {})
      .on('close', () => void closed++)
      .resume();
  await Promise.all(hanging.slice(3).map(closedOf));
  t.equal(closed, 2, 'the fourth and the fifth found no place');
  const socket = await secure(port, first.cert);
  t.equal(await ask(socket), 200);
  socket.destroy();
  for (const one of hanging) one.destroy();
});

t.test('new connections get the renewed certificate, and old ones go on', async t => {
  const { port, server } = await withServer(t, [], {}, first);
  const before = await secure(port, first.cert);
  t.equal(await ask(before), 200);
  server.reloadTls(second);
  t.equal(await ask(before), 200);
  const after = await secure(port, second.cert);
  t.not(after.getPeerCertificate().fingerprint256, before.getPeerCertificate().fingerprint256);
  t.equal(await ask(after), 200);
  before.destroy();
  after.destroy();
});

t.test('a stop waits for what is under way and ends the rest', async t => {
  const { port, server } = await withServer(t, [], {}, first);
  const idle = await secure(port, first.cert);
  t.equal(await ask(idle), 200);
  const shaking = connectPlain({ host: '127.0.0.1', port });
  shaking.on('error', () => {}).resume();
  await once(shaking, 'connect');
  const ended = Promise.all([closedOf(idle), closedOf(shaking)]);
  const begunMs = performance.now();
  await server.stop(50);
  await ended;
  // A handshake may last 15 seconds: it is not waited for.
  t.ok(performance.now() - begunMs < 10_000);
});
