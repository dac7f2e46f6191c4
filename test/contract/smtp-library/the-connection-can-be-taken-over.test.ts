import { createRequire } from 'node:module';
import type net from 'node:net';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { SMTPConnection } from 'smtp-server/lib/smtp-connection.js';
import { SMTPStream } from 'smtp-server/lib/smtp-stream.js';
import type { Test } from 'tap';
import t from 'tap';
import { makeIdentity } from '../../support/certificate.js';
import { temporaryFolder } from '../../support/redis/redis.js';
import { SmtpClient } from '../../support/smtp/smtp-client.js';

/** What src/smtp/mail-connection.ts and src/smtp/mail-server.ts rely on in the library's connection and server. */

const calls: string[] = [];
let last: Spy | undefined;

class Spy extends SMTPConnection {
  override init(): void {
    calls.push('init');
    this._setListeners(() => {
      calls.push('listening');
      this.connectionReady();
      calls.push(this._ready ? 'greeted at once' : 'not greeted');
    });
  }

  override _createParser(): SMTPStream {
    calls.push('_createParser');
    const parser = new SMTPStream();
    parser.oncommand = (command, callback) => this._onCommand(command, callback);
    return parser;
  }

  override _resetSession(): void {
    calls.push('_resetSession');
    super._resetSession();
  }

  override handler_EHLO(command: Buffer, done: () => void): void {
    calls.push('handler_EHLO');
    super.handler_EHLO(command, done);
  }

  override handler_HELO(command: Buffer, done: () => void): void {
    calls.push('handler_HELO');
    super.handler_HELO(command, done);
  }

  override _armTimeout(socket: net.Socket = this._socket): void {
    calls.push(`_armTimeout of ${socket === this._socket ? 'the' : 'a new'} socket, ${this.progress}`);
    super._armTimeout(socket);
  }

  override _onTimeout(): void {
    calls.push('_onTimeout');
    super._onTimeout();
  }

  get progress(): string {
    return this._upgrading ? 'upgrading' : 'not upgrading';
  }

  override handler_MAIL(command: Buffer, done: () => void): void {
    calls.push(`${command} ${this._handlerPending ? 'pending' : 'idle'}`);
    this.send(250, 'mail');
    done();
    calls.push(this._handlerPending ? 'pending' : 'idle');
  }

  override handler_RCPT(_command: Buffer, done: () => void): void {
    this.send(250, 'rcpt');
    done();
  }

  override handler_DATA(_command: Buffer, done: () => void): void {
    this.send(554, 'data');
    done();
  }

  override _onClose(): void {
    calls.push(`_onClose ${this._closed ? 'again' : 'once'}`);
    super._onClose();
    calls.push(this._closed ? 'closed' : 'open');
  }
}

class SpyServer extends SMTPServer {
  override _handleProxy(_socket: unknown, callback: (error: null, options: { id: string }) => void): void {
    calls.push('_handleProxy');
    callback(null, { id: 'our-id' });
  }

  override connect(...[socket, options]: Parameters<SMTPServer['connect']>): void {
    calls.push('connect');
    last = new Spy(this, socket, options);
    this.connections.add(last);
    last.on('error', () => {});
    last.init();
  }

  override onConnect(_session: unknown, callback: () => void): void {
    callback();
  }

  override onSecure(_socket: unknown, _session: unknown, callback: () => void): void {
    calls.push(`onSecure, ${last?.progress}`);
    callback();
  }
}

async function start(t: Test, options: object = {}): Promise<number> {
  calls.length = 0;
  const server = new SpyServer({
    name: 'mx.example.org',
    heloResponse: '%s',
    disabledCommands: ['AUTH', 'STARTTLS', 'WIZ'],
    hideENHANCEDSTATUSCODES: false,
    disableReverseLookup: true,
    logger: false,
    ...options,
  });
  server.on('error', () => {});
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.server.close());
  return (server.server.address() as AddressInfo).port;
}

t.test('it is the version that was read', async t => {
  const { version } = createRequire(import.meta.url)('smtp-server/package.json') as { version: string };
  t.equal(version, '3.21.6', 'read the new sources, then change this line');
});

t.test('a connection is ours from the first moment, and greets in the same turn', async t => {
  const port = await start(t);
  const client = await SmtpClient.connect(port);
  await client.expect(220);
  t.same(calls, [
    '_handleProxy',
    'connect',
    '_createParser',
    'init',
    '_armTimeout of the socket, not upgrading',
    'listening',
    '_resetSession',
    'greeted at once',
  ]);
  t.equal(last?.id, 'our-id');
  t.equal(last?.remoteAddress, '127.0.0.1');
  t.ok(last?._parser instanceof SMTPStream);
  client.destroy();
});

t.test('EHLO, HELO and RSET reset the transaction; EHLO keeps a lower-case name', async t => {
  const port = await start(t);
  const client = await SmtpClient.connect(port);
  await client.expect(220);
  for (const [command, handlers] of [
    ['EHLO Client.Example', ['handler_EHLO']],
    ['HELO Client.Example', ['handler_HELO']],
    ['RSET', []],
  ] as const) {
    calls.length = 0;
    await client.command(command, 250);
    t.same(calls, [...handlers, '_resetSession']);
    t.equal(last?.hostNameAppearsAs, 'client.example');
  }
  await client.command('EHLO a b', 501);
  t.equal(last?.hostNameAppearsAs, 'client.example');
  client.destroy();
});

t.test('MAIL, RCPT and DATA are ours, after EHLO only; a handler is pending until it is done', async t => {
  const port = await start(t);
  const client = await SmtpClient.connect(port);
  await client.expect(220);
  await client.command('MAIL FROM:<a@b.example>', 503);
  await client.command('EHLO x', 250);
  calls.length = 0;
  t.match((await client.command('MAIL FROM:<a@b.example>', 250)).text, /mail$/);
  t.same(calls, ['MAIL FROM:<a@b.example> pending', 'idle']);
  t.match((await client.command('RCPT TO:<a@b.example>', 250)).text, /rcpt$/);
  t.match((await client.command('DATA', 554)).text, /data$/);
  client.destroy();
});

t.test('disabled commands are unknown commands, and ten of those are too many', async t => {
  const port = await start(t);
  const client = await SmtpClient.connect(port);
  await client.expect(220);
  t.notMatch((await client.command('EHLO x', 250)).text, /AUTH|STARTTLS/);
  for (const command of ['AUTH PLAIN x', 'STARTTLS', 'WIZ x']) await client.command(command, 500);
  t.equal(last?._unrecognizedCommands, 3);
  for (let n = 4; n < 10; n++) await client.command('FOO', 500);
  await client.command('FOO', 421);
  client.destroy();
});

t.test(
  'close() ends our side, stops the parser, reads on, and sets the timer that _onClose clears',
  async t => {
    const port = await start(t);
    const client = await SmtpClient.connect(port);
    await client.expect(220);
    const connection = last!;
    const parser = connection._parser as SMTPStream;
    connection.close();
    t.ok(connection._closing);
    t.ok(parser.isClosed);
    t.ok(connection._closeTimer?.hasRef() === false);
    t.notOk(connection._socket.isPaused());
    t.notOk(connection._server.connections.has(connection));
    calls.length = 0;
    const timer = connection._closeTimer as NodeJS.Timeout & { _destroyed: boolean };
    connection._socket.destroy();
    await client.closed();
    while (!connection._closed) await new Promise(setImmediate);
    t.same(calls, ['_onClose once', 'closed']);
    t.ok(timer._destroyed);
    t.equal(connection._parser, false);
  },
);

t.test('a timeout finds _handlerPending set, and only then waits on', async t => {
  const port = await start(t, { socketTimeout: 40 });
  const client = await SmtpClient.connect(port);
  await client.expect(220);
  const connection = last!;
  connection._handlerPending = true;
  calls.length = 0;
  let timeouts = 0;
  while (timeouts < 2) {
    await new Promise(resolve => connection._socket.once('timeout', resolve));
    timeouts += 1;
  }
  t.equal(client.unread, 0);
  t.same(calls.slice(0, 2), ['_onTimeout', '_armTimeout of the socket, not upgrading']);
  connection._handlerPending = false;
  await client.expect(421);
  client.destroy();
});

t.test('a TLS handshake arms the timeout of the new socket, and ends in onSecure', async t => {
  const { cert, key } = makeIdentity(temporaryFolder(t), 'DNS:mx.example.org');
  const port = await start(t, { disabledCommands: ['AUTH', 'WIZ'], key, cert });
  const client = await SmtpClient.connect(port);
  await client.expect(220);
  await client.command('EHLO x', 250);
  const plain = last?._socket;
  calls.length = 0;
  await client.startTls();
  while (!calls.some(call => call.startsWith('onSecure'))) await new Promise(setImmediate);
  t.same(
    calls.filter(call => /_armTimeout|onSecure/.test(call)),
    ['_armTimeout of a new socket, upgrading', 'onSecure, not upgrading'],
  );
  t.not(last?._socket, plain);
  t.match((await client.command('EHLO x', 250)).text, 'x');
  client.destroy();
});

t.test('_getEnhancedStatusCode knows the code of a reply, and that EHLO has none', async t => {
  const port = await start(t);
  const client = await SmtpClient.connect(port);
  await client.expect(220);
  t.equal(last?._getEnhancedStatusCode(250, undefined), '2.0.0');
  t.equal(last?._getEnhancedStatusCode(421, undefined), '4.4.2');
  t.equal(last?._getEnhancedStatusCode(354, undefined), '');
  t.equal(last?._getEnhancedStatusCode(250, false), '');
  client.destroy();
});

t.test('_onError of the server emits its error event', async t => {
  const server = new SpyServer({ logger: false });
  const heard: unknown[] = [];
  server.on('error', error => heard.push(error));
  const error = new Error('reset');
  server._onError(error);
  t.same(heard, [error]);
});

t.test('_whenWritable calls at once unless the socket has to drain', async t => {
  const port = await start(t);
  const client = await SmtpClient.connect(port);
  await client.expect(220);
  let isCalled = false;
  last?._whenWritable(() => {
    isCalled = true;
  });
  t.ok(isCalled);
  client.destroy();
});

t.test('the server is a net.Server that can be closed by itself', async t => {
  const server = new SpyServer({ logger: false });
  t.type(server.server.close, 'function');
  t.type(server.updateSecureContext, 'function');
  t.equal(server._closeTimeout, false);
});
