import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { newWebhookSecret } from '../../../src/domain/secrets.js';
import { readRetryAfter } from '../../../src/lib/retry-after.js';
import type { HookCall } from '../../../src/usecases/webhooks/hook-call.js';
import { makeIdentity } from '../../support/certificate.js';
import { localCaller } from '../../support/webhooks/local-caller.js';
import { type Answer, isSignedWith, startReceiver } from '../../support/webhooks/receiver.js';

function callTo(url: string, secrets: readonly string[] = [newWebhookSecret()]): HookCall {
  return { url, id: 'an-event', at: Date.now(), secrets, body: '{"type":"test","word":"grüße"}' };
}

t.test('what it answers decides, and its answer is thrown away', async t => {
  const receiver = await startReceiver(t);
  const caller = localCaller(t, { timeoutMs: 2_000 });
  const failed = (status: number | null, reason: string) => ({ kind: 'failed', status, reason });
  const cases: readonly (readonly [Answer, object])[] = [
    [200, { kind: 'taken', status: 200 }],
    [299, { kind: 'taken', status: 299 }],
    ['endless', { kind: 'taken', status: 200 }],
    [500, failed(500, 'status')],
    [404, failed(404, 'status')],
    [410, failed(410, 'gone')],
    [
      { status: 302, headers: { location: `${receiver.url}/elsewhere`, 'retry-after': '5' } },
      { ...failed(302, 'redirect'), retryAfterMs: null },
    ],
    [
      { status: 503, headers: { 'retry-after': '7' } },
      { ...failed(503, 'status'), retryAfterMs: 7_000 },
    ],
    ['cut', failed(null, 'no_answer')],
    ['half', failed(null, 'no_answer')],
    ['silence', failed(null, 'timeout')],
  ];
  for (const [answer, outcome] of cases) {
    receiver.answers(() => answer);
    t.match(await caller.call(callTo(receiver.url)), outcome, JSON.stringify(answer));
  }
  t.ok(
    receiver.received.every(({ path }) => path === '/hook'),
    'no redirect is followed',
  );
  await receiver.stop();
  t.match(await caller.call(callTo(receiver.url)), failed(null, 'unreachable'));
});

t.test('one that takes no bytes, or speaks no HTTP, is given up', async t => {
  const sockets = new Set<Socket>();
  const server = createServer(socket => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.pause();
  });
  await new Promise<void>(resolve => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as { port: number };
  const caller = localCaller(t, { timeoutMs: 300 });
  for (const scheme of ['http', 'https']) {
    t.match(await caller.call(callTo(`${scheme}://127.0.0.1:${port}/`)), { reason: 'timeout' });
  }
  const rude = createServer(socket => {
    socket.on('error', () => undefined);
    socket.end('220 mail.example.com ESMTP\r\n');
  });
  await new Promise<void>(resolve => {
    rude.listen(0, '127.0.0.1', resolve);
  });
  t.teardown(() => void rude.close());
  const { port: rudePort } = rude.address() as { port: number };
  t.match(await caller.call(callTo(`http://127.0.0.1:${rudePort}/`)), { reason: 'no_answer' });
  t.match(await caller.call(callTo(`https://127.0.0.1:${rudePort}/`)), { reason: 'tls' });
});

t.test('the public library believes the signature, of each secret that is valid', async t => {
  const receiver = await startReceiver(t);
  const caller = localCaller(t);
  const secrets = [newWebhookSecret(), newWebhookSecret()];
  await caller.call(callTo(receiver.url, secrets));
  const [one] = receiver.received;
  if (one === undefined) throw new Error('nothing came');
  for (const secret of secrets) t.ok(isSignedWith(secret, one));
  t.notOk(isSignedWith(newWebhookSecret(), one));
  t.notOk(isSignedWith(secrets[0] ?? '', { ...one, body: one.body.replace('test', 'best') }));
  t.match(one.headers, {
    'content-type': 'application/json',
    'user-agent': 'Postern/0',
    'webhook-id': 'an-event',
    host: `127.0.0.1:${receiver.port}`,
  });
  t.equal(one.json.word, 'grüße');
});

t.test('over TLS its certificate must be valid for its name', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'postern-hooks-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const identity = makeIdentity(folder, 'IP:127.0.0.1');
  const receiver = await startReceiver(t, identity);
  const trusting = localCaller(t, { ca: identity.cert });
  t.match(await trusting.call(callTo(receiver.url)), { kind: 'taken' });
  const other = receiver.url.replace('127.0.0.1', 'localhost');
  t.match(await trusting.call(callTo(other)), { reason: 'tls' }, 'another name');
  t.match(
    await localCaller(t).call(callTo(receiver.url)),
    { reason: 'tls' },
    'an authority that nobody knows',
  );
  t.equal(receiver.received.length, 1);
});

t.test('a stop cuts off what has no answer in time, which says nothing of the endpoint', async t => {
  const receiver = await startReceiver(t);
  receiver.answers(() => 'silence');
  const caller = localCaller(t);
  const calling = caller.call(callTo(receiver.url));
  await receiver.until(({ received }) => received.length === 1);
  await caller.close(10);
  t.strictSame(await calling, { kind: 'stopped' });
  t.strictSame(await caller.call(callTo(receiver.url)), { kind: 'stopped' });
});

t.test('a call lasts as long as its connection, and what was answered counts', async t => {
  const ends: Promise<void>[] = [];
  const server = createServer({ allowHalfOpen: true }, socket => {
    socket.on('error', () => undefined).resume();
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n');
    const dribble = setInterval(() => socket.write('x'), 50);
    ends.push(
      new Promise(resolve => {
        socket.on('end', () => socket.destroy());
        socket.on('close', () => {
          clearInterval(dribble);
          resolve();
        });
      }),
    );
  });
  await new Promise<void>(resolve => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.teardown(() => void server.close());
  const { port } = server.address() as { port: number };
  const openSockets = () => process.getActiveResourcesInfo().filter(name => name === 'TCPSocketWrap').length;
  const before = openSockets();
  const caller = localCaller(t, { timeoutMs: 500 });
  const outcome = await caller.call(callTo(`http://127.0.0.1:${port}/`));
  t.ok(openSockets() <= before + 1, 'none but that of the endpoint');
  t.match(outcome, { kind: 'taken', status: 200 }, 'although the time of the call was over');
  await Promise.all(ends);
});

t.test('Retry-After is seconds or a date', async t => {
  const now = Date.UTC(2026, 0, 1);
  t.equal(readRetryAfter('120', now), 120_000);
  t.equal(readRetryAfter(' 0 ', now), 0);
  t.equal(readRetryAfter('Thu, 01 Jan 2026 00:01:00 GMT', now), 60_000);
  t.equal(readRetryAfter('Wed, 31 Dec 2025 23:00:00 GMT', now), 0);
  for (const text of [undefined, '', '-5', '1.5', 'soon', '2026-01-02', '99999999999']) {
    t.equal(readRetryAfter(text, now), null, String(text));
  }
});
