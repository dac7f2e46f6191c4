import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import type { Test } from 'tap';
import t from 'tap';
import { SmtpClient } from '../../../support/smtp/smtp-client.js';
import { type TestListener, withListener } from '../with-listener.js';
import { certificate } from './test-certificate.js';

const LONG_MS = 3_600_000;

/** A ClientHello (RFC 5246 section 7.4.1.2) that offers `version` at most. */
function clientHello(version: number): Buffer {
  const u16 = (value: number) => Buffer.from([value >> 8, value & 0xff]);
  const sized = (bytes: Buffer) => Buffer.concat([u16(bytes.length), bytes]);
  const extension = (type: number, bytes: Buffer) => Buffer.concat([u16(type), sized(bytes)]);
  const suites = [0xc02b, 0xc02f, 0xc009, 0xc00a, 0xc013, 0xc014, 0x2f, 0x35];
  const extensions = [
    extension(10, sized(Buffer.concat([0x17, 0x18, 0x1d].map(u16)))),
    extension(11, Buffer.from([1, 0])),
    extension(13, sized(Buffer.concat([0x0403, 0x0401, 0x0804, 0x0203, 0x0201].map(u16)))),
  ];
  const body = Buffer.concat([
    u16(version),
    randomBytes(32),
    Buffer.from([0]),
    sized(Buffer.concat(suites.map(u16))),
    Buffer.from([1, 0]),
    sized(Buffer.concat(extensions)),
  ]);
  const handshake = Buffer.concat([Buffer.from([1, 0]), sized(body)]);
  return Buffer.concat([Buffer.from([0x16, 3, 1]), sized(handshake)]);
}

/** A plain socket on which the server waits for a handshake, on either port. */
async function beforeHandshake(
  { port, implicitTlsPort }: TestListener,
  isImplicit: boolean,
): Promise<net.Socket> {
  const socket = net.connect(isImplicit ? implicitTlsPort : port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  if (isImplicit) return socket;
  await once(socket, 'data');
  socket.write('STARTTLS\r\n');
  await once(socket, 'data');
  return socket;
}

async function answerTo(socket: net.Socket, bytes: Buffer): Promise<Buffer> {
  socket.write(bytes);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return answer;
}

function closed(socket: net.Socket): Promise<void> {
  return new Promise(resolve => socket.once('close', () => resolve()));
}

async function untilEmpty({ listener }: TestListener): Promise<void> {
  while (listener.stats().connections > 0) await new Promise(setImmediate);
}

const withTls = (t: Test, options = {}) =>
  withListener(t, { tls: certificate, implicitTlsPort: 0, ...options });

for (const isImplicit of [false, true]) {
  const how = isImplicit ? 'implicit TLS' : 'STARTTLS';

  t.test(`${how}: TLS 1.0 and 1.1 get the alert protocol_version, 1.2 a ServerHello`, async t => {
    const served = await withTls(t);
    for (const version of [0x0301, 0x0302]) {
      const answer = await answerTo(await beforeHandshake(served, isImplicit), clientHello(version));
      t.equal(answer[0], 21, 'an alert');
      t.equal(answer[6], 70, 'protocol_version');
    }
    const answer = await answerTo(await beforeHandshake(served, isImplicit), clientHello(0x0303));
    t.equal(answer[0], 22, 'a handshake record');
    t.equal(answer[5], 2, 'ServerHello');
    await untilEmpty(served);
  });

  t.test(`${how}: garbage, silence, FIN and RST at any point of the handshake`, async t => {
    const served = await withTls(t);
    const hello = clientHello(0x0303);
    const pieces = [
      Buffer.alloc(0),
      Buffer.from('EHLO client.example\r\n'),
      Buffer.from('GET / HTTP/1.1\r\n\r\n'),
      randomBytes(20),
      randomBytes(20_000),
      Buffer.concat([Buffer.from([0x16, 3, 1, 0xff, 0xff]), randomBytes(70_000)]),
      hello.subarray(0, 1),
      hello.subarray(0, 60),
      hello,
      Buffer.concat([hello, hello]),
      Buffer.concat([hello, randomBytes(500)]),
    ];
    for (const piece of pieces) {
      for (const end of ['end', 'destroy', 'resetAndDestroy'] as const) {
        const socket = await beforeHandshake(served, isImplicit);
        if (piece.length > 0) await new Promise(resolve => socket.write(piece, resolve));
        socket[end]();
        socket.resume();
      }
    }
    await untilEmpty(served);
    await (await SmtpClient.ready(served.port)).command('NOOP', 250);
  });

  t.test(`${how}: a handshake has a time of its own, trickle or not`, async t => {
    const served = await withTls(t, { handshakeTimeoutMs: 40 });
    for (let round = 0; round < 20; round++) {
      const socket = await beforeHandshake(served, isImplicit);
      const hello = clientHello(0x0303);
      if (round % 4 === 1) socket.write(hello);
      if (round % 4 === 2) socket.write(hello.subarray(0, 20));
      let sent = 0;
      const trickle = setInterval(() => {
        if (round % 4 === 3) socket.write(hello.subarray(sent, ++sent));
      }, 3);
      socket.resume();
      await closed(socket);
      clearInterval(trickle);
    }
    await untilEmpty(served);
    t.equal(served.listener.stats().refusals.timeout, 20);
  });

  t.test(`${how}: the idle timeout and an orderly stop end a handshake, too`, async t => {
    const idle = await withTls(t, { idleTimeoutMs: 30, handshakeTimeoutMs: LONG_MS });
    const silent = await beforeHandshake(idle, isImplicit);
    silent.write(clientHello(0x0303));
    silent.resume();
    await closed(silent);
    await untilEmpty(idle);
    for (let round = 0; round < 20; round++) {
      const served = await withTls(t);
      for (const piece of [0, 20, 400]) {
        const socket = await beforeHandshake(served, isImplicit);
        if (piece > 0) socket.write(clientHello(0x0303).subarray(0, piece));
        socket.resume();
        if (round % 2 === 0) await new Promise(setImmediate);
      }
      await served.listener.stop(round % 3);
      t.equal(served.listener.stats().connections, 0);
    }
  });
}

t.test('what was sent in clear behind STARTTLS is nothing, however much, whole or in part', async t => {
  const served = await withTls(t);
  for (const injected of [
    'EHLO mallory.example\r\nMAIL FROM:<mallory@b.example>\r\nRCPT TO:<agent@example.org>\r\n',
    'EHLO mallory.example\r\n'.repeat(500),
    'DATA\r\nx\r\n.\r\n',
    'EHLO half.example',
    'MAIL FROM:<half@b.ex',
  ]) {
    const client = await SmtpClient.ready(served.port);
    await client.command('MAIL FROM:<before@b.example>', 250);
    await client.command('RCPT TO:<agent@example.org>', 250);
    await client.write(`STARTTLS\r\n${injected}`);
    await client.expect(220);
    await client.handshake().catch(() => {});
    // The connection is cut off, or served as if the bytes had never been sent.
    await client.line('RCPT TO:<agent@example.org>');
    const reply = await client.reply();
    if (reply !== null) {
      t.equal(reply.code, 503);
      await client.command('DATA', 503);
      await client.command('MAIL FROM:<a@b.example>', 503);
      await client.command('EHLO client.example', 250);
      t.equal((await client.sendMail('a@b.example', ['agent@example.org'], 'x\r\n')).code, 250);
      t.equal(served.inbound.messages.at(-1)?.envelope.helo, 'client.example');
      t.equal(served.inbound.messages.at(-1)?.envelope.from, 'a@b.example');
    }
    client.destroy();
  }
  t.ok(served.inbound.messages.length > 0);
});
