import { createRequire } from 'node:module';
import net from 'node:net';
import type SMTPConnection from 'nodemailer/lib/smtp-connection';
import type { SMTPConnectionOptions } from 'nodemailer/lib/smtp-connection';
import type { Test } from 'tap';
import t from 'tap';
import { LibraryConnection, type PeerCheck } from '../../../src/relay/session/library-connection.js';
import { makeIdentity } from '../../support/certificate.js';
import { temporaryFolder } from '../../support/redis/redis.js';
import { type FakeSmarthost, withFakeSmarthost } from '../../support/smarthost/fake-smarthost.js';
import {
  andThen,
  drop,
  raw,
  type Script,
  type SmarthostSettings,
  say,
} from '../../support/smarthost/smarthost-script.js';
import { leftBehind } from '../../unit/relay/smarthost/with-smarthost.js';

/** What `library-connection.ts` and `session-opening.ts` of src/relay/session rely on in nodemailer's SMTPConnection. */

interface Opened {
  readonly smarthost: FakeSmarthost;
  readonly connection: LibraryConnection;
  readonly errors: Error[];
}

async function open(
  t: Test,
  script: Script = {},
  settings: SmarthostSettings = {},
  options: SMTPConnectionOptions = {},
  checkPeer: PeerCheck | null = null,
): Promise<Opened> {
  const smarthost = await withFakeSmarthost(t, script, settings);
  const socket = net.connect(smarthost.port, '127.0.0.1');
  await new Promise(resolve => socket.once('connect', resolve));
  const connection = new LibraryConnection(
    {
      connection: socket,
      host: 'localhost',
      name: 'client.example',
      logger: false,
      ignoreTLS: true,
      socketCloseTimeout: 0,
      ...options,
    },
    checkPeer,
  );
  const errors: Error[] = [];
  connection.on('error', error => errors.push(error));
  t.teardown(() => connection.close());
  return { smarthost, connection, errors };
}

const connected = (connection: SMTPConnection) =>
  new Promise<Error | undefined>(resolve => connection.connect(resolve));

t.test('it is the version that was read', async t => {
  const { version } = createRequire(import.meta.url)('nodemailer/package.json') as { version: string };
  t.equal(version, '10.6.1', 'read the new sources, then change this line');
});

t.test('connect calls back when EHLO is answered, whose reply is then the last one', async t => {
  const { smarthost, connection } = await open(t);
  t.equal(await connected(connection), undefined);
  const lines = (connection.lastServerResponse || '').split('\n');
  t.equal(lines[0], '250-fake.example');
  t.match(lines.at(-1), /^250 SIZE \d+$/);
  t.same(smarthost.sessions[0]?.lines, ['EHLO client.example']);
  t.notOk(connection.isOutOfStep);
  t.match(connection.extensions.get('SIZE'), /^\d+$/);
});

t.test('a server that knows HELO only: its reply is the last one', async t => {
  const { connection } = await open(t, {
    ehlo: ({ line }) => (line.startsWith('EHLO') ? say('500 What?') : null),
  });
  t.equal(await connected(connection), undefined);
  t.equal(connection.lastServerResponse, '250 fake.example');
  t.equal(connection.extensions.size, 0);
});

for (const [claim, rest] of [
  ['another reply', '250 evil\r\n'],
  ['half of one', '25'],
]) {
  t.test(`a server that sends ${claim} behind the one to EHLO is out of step`, async t => {
    const { connection } = await open(t, { ehlo: raw(`250 fake.example\r\n${rest}`) });
    t.equal(await connected(connection), undefined);
    t.ok(connection.isOutOfStep);
  });
}

t.test('once it is taken over, bytes and losses are ours alone, and no time of the library runs', async t => {
  const { smarthost, connection, errors } = await open(t, {
    mail: andThen(say('250 OK', '250 too many'), 'reset'),
  });
  await connected(connection);
  const heard: string[] = [];
  let wake = (): void => {};
  const socket = connection.takeOver({
    data: chunk => heard.push(chunk.toString()),
    lost: words => {
      heard.push(words);
      wake();
    },
  });
  t.equal(socket.timeout, 0, 'no idle time of the library');
  await smarthost.until(() => true);
  socket.write('MAIL FROM:<>\r\n');
  await new Promise<void>(resolve => {
    wake = resolve;
  });
  t.match(heard[0], /^250 OK\r\n250 too many\r\n/);
  t.match(heard[1], /^(?:ECONNRESET|connection closed)$/);
  t.same(errors, [], 'the library has heard of nothing');
  t.notOk(connection.isOutOfStep);
});

t.test('close destroys the socket at once and leaves nothing', async t => {
  const { smarthost, connection } = await open(t);
  await connected(connection);
  const socket = connection.takeOver({ data: () => {}, lost: () => {} });
  connection.close();
  t.ok(socket.destroyed);
  await smarthost.stop();
  t.same(await leftBehind(), []);
});

t.test('a refused greeting is an error with the reply in it', async t => {
  const { connection, errors } = await open(t, { greeting: say('554-Not', '554 today') });
  connection.connect();
  await new Promise(resolve => connection.once('end', resolve));
  t.match(errors, [{ response: '554-Not\n554 today', responseCode: 554 }]);
});

t.test('the end before the greeting goes to the callback, with an error, and to nobody else', async t => {
  const { connection, errors } = await open(t, { greeting: drop });
  t.match(await connected(connection), { code: 'ECONNECTION' });
  t.same(errors, []);
});

t.test('STARTTLS that is insisted on is asked for whether it is offered or not', async t => {
  const { smarthost, connection, errors } = await open(
    t,
    { starttls: say('502 5.5.1 What?') },
    {},
    { ignoreTLS: false, requireTLS: true },
  );
  connection.connect();
  await new Promise(resolve => connection.once('end', resolve));
  t.match(errors, [{ code: 'ETLS', command: 'STARTTLS', response: '502 5.5.1 What?' }]);
  t.same(smarthost.sessions[0]?.lines, ['EHLO client.example', 'STARTTLS']);
});

for (const security of ['starttls', 'implicit'] as const) {
  t.test(`${security}: the name is checked while upgrading, and the reason keeps its code`, async t => {
    const identity = makeIdentity(temporaryFolder(t), 'DNS:other.example');
    const options = {
      ignoreTLS: false,
      requireTLS: security === 'starttls',
      secure: security === 'implicit',
    };
    const { connection, errors } = await open(
      t,
      {},
      { security, identity },
      { ...options, tls: { ca: identity.cert } },
    );
    const upgrading = new Promise(resolve => connection.once('error', () => resolve(connection.upgrading)));
    connection.connect();
    t.equal(await upgrading, true);
    t.match(errors, [{ originalCode: 'ERR_TLS_CERT_ALTNAME_INVALID' }]);
  });

  t.test(`${security}: on success the socket is the encrypted one`, async t => {
    const identity = makeIdentity(temporaryFolder(t), 'DNS:localhost');
    const options = {
      ignoreTLS: false,
      requireTLS: security === 'starttls',
      secure: security === 'implicit',
    };
    const { connection } = await open(
      t,
      {},
      { security, identity },
      { ...options, tls: { ca: identity.cert } },
    );
    t.equal(await connected(connection), undefined);
    t.equal(connection.secure, true);
    t.notOk(connection.isOutOfStep);
    t.match(connection.lastServerResponse, /^250-fake\.example\n/);
    const socket = connection.takeOver({ data: () => {}, lost: () => {} });
    t.equal('encrypted' in socket && socket.encrypted, true);
  });
}

t.test('a check of ours comes after the handshake and before anything is said in it', async t => {
  const identity = makeIdentity(temporaryFolder(t), 'DNS:localhost');
  const options = { ignoreTLS: false, requireTLS: true, tls: { rejectUnauthorized: false } };
  const settings: SmarthostSettings = { security: 'starttls', identity };
  let protocol: string | null = null;
  const { smarthost, connection, errors } = await open(t, {}, settings, options, socket => {
    protocol = socket.getProtocol();
    return 'not this one';
  });
  connection.connect();
  await new Promise(resolve => connection.once('end', resolve));
  t.match(protocol, /^TLSv1\.[23]$/);
  t.match(errors, [{ code: 'ETLS', message: /not this one/ }]);
  t.same(smarthost.sessions[0]?.lines, ['EHLO client.example', 'STARTTLS']);
});

for (const rest of ['250 evil\r\n', '25', 'evil']) {
  t.test(`plain text behind the reply to STARTTLS ends the session: ${JSON.stringify(rest)}`, async t => {
    const identity = makeIdentity(temporaryFolder(t), 'DNS:localhost');
    const options = { ignoreTLS: false, requireTLS: true, tls: { ca: identity.cert } };
    const settings: SmarthostSettings = { security: 'starttls', identity };
    const { connection, errors } = await open(
      t,
      { starttls: raw(`220 Ready\r\n${rest}`) },
      settings,
      options,
    );
    connection.connect();
    await new Promise(resolve => connection.once('end', resolve));
    t.ok(connection.isTamperedWith);
    t.notOk(connection.secure);
    t.match(errors, [{ code: 'ETLS' }]);
  });
}

t.test(
  'where TLS is wanted but not needed, a refused STARTTLS leaves the plain session as it was',
  async t => {
    const options = { ignoreTLS: false, opportunisticTLS: true };
    const identity = makeIdentity(temporaryFolder(t), 'DNS:localhost');
    const settings: SmarthostSettings = { security: 'starttls', identity };
    const { connection } = await open(t, { starttls: say('454 4.7.0 Not now') }, settings, options);
    t.equal(await connected(connection), undefined);
    t.notOk(connection.secure);
    t.notOk(connection.isClosed);
    t.ok(connection.extensions.has('PIPELINING'));
  },
);

t.test('and a 421 to STARTTLS closes it, though connect calls back', async t => {
  const options = { ignoreTLS: false, opportunisticTLS: true };
  const identity = makeIdentity(temporaryFolder(t), 'DNS:localhost');
  const settings: SmarthostSettings = { security: 'starttls', identity };
  const { connection } = await open(t, { starttls: say('421 4.3.2 Bye') }, settings, options);
  t.equal(await connected(connection), undefined);
  t.ok(connection.isClosed);
});

t.test('AUTH by the mechanism that is asked for, whatever else is offered', async t => {
  const login = { user: 'me', password: 'secret' };
  const { smarthost, connection } = await open(t, {}, { login, mechanisms: ['LOGIN', 'PLAIN'] });
  await connected(connection);
  await new Promise<void>((resolve, reject) => {
    connection.login({ method: 'PLAIN', user: 'me', pass: 'secret' }, error =>
      error === null ? resolve() : reject(error),
    );
  });
  t.equal(
    smarthost.sessions[0]?.lines.at(-1),
    `AUTH PLAIN ${Buffer.from('\0me\0secret').toString('base64')}`,
  );
  t.equal(connection.lastServerResponse, '235 2.7.0 Welcome');
});

t.test('a refused AUTH is told by its reply; a lost one by the error event alone', async t => {
  const login = { user: 'me', password: 'secret' };
  const refused = await open(t, {}, { login });
  await connected(refused.connection);
  const error = await new Promise(resolve =>
    refused.connection.login({ method: 'PLAIN', user: 'me', pass: 'wrong' }, resolve),
  );
  t.match(error, { code: 'EAUTH', response: '535 5.7.8 Wrong user or password', command: 'AUTH PLAIN' });

  const lost = await open(t, { auth: drop }, { login });
  await connected(lost.connection);
  const told = new Promise(resolve => lost.connection.once('error', resolve));
  lost.connection.login({ method: 'PLAIN', user: 'me', pass: 'secret' }, () => t.fail('not called'));
  t.match(await told, { code: 'ECONNECTION' });
});

/** A server that says nothing to RCPT until it has DATA as well, and then refuses the first of two recipients. */
async function patientServer(
  t: Test,
  offers: string,
): Promise<{ readonly port: number; readonly heard: string[] }> {
  const heard: string[] = [];
  const server = net.createServer(socket => {
    let input = '';
    socket.write('220 fake.example\r\n');
    socket.on('error', () => {});
    socket.on('data', chunk => {
      input += chunk.toString();
      for (let end = input.indexOf('\r\n'); end >= 0; end = input.indexOf('\r\n')) {
        const line = input.slice(0, end);
        input = input.slice(end + 2);
        heard.push(line);
        if (line.startsWith('EHLO')) socket.write(`250-fake.example\r\n250 ${offers}\r\n`);
        else if (line.startsWith('MAIL')) socket.write('250 OK\r\n');
        else if (line === 'DATA') socket.write('550 5.1.1 No\r\n250 OK\r\n354 Go\r\n');
        else if (line === '.') socket.write('250 OK\r\n');
      }
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return { port: (server.address() as net.AddressInfo).port, heard };
}

t.test('why its own way of sending is not used: DATA goes out before any RCPT is answered', async t => {
  const { port, heard } = await patientServer(t, 'PIPELINING');
  const socket = net.connect(port, '127.0.0.1');
  const connection = new LibraryConnection({
    connection: socket,
    host: 'localhost',
    logger: false,
    ignoreTLS: true,
  });
  t.teardown(() => connection.close());
  await connected(connection);
  const info = await new Promise((resolve, reject) => {
    const envelope = { from: 'a@b.example', to: ['one@x.example', 'two@x.example'] };
    connection.send(envelope, 'a: b\r\n\r\n', (error, sent) =>
      error === null ? resolve(sent) : reject(error),
    );
  });
  t.same(heard.slice(1, 5), [
    'MAIL FROM:<a@b.example>',
    'RCPT TO:<one@x.example>',
    'RCPT TO:<two@x.example>',
    'DATA',
  ]);
  t.match(
    info,
    { accepted: ['two@x.example'], rejected: ['one@x.example'] },
    'and a refusal refuses nobody else',
  );
});

t.test('nor is it where PIPELINING is not offered: the others get the mail that one was refused', async t => {
  const { smarthost, connection } = await open(t, {
    ehlo: ({ line }) => (line.startsWith('EHLO') ? say('250 fake.example') : null),
    rcpt: ({ recipient }) => (recipient === 1 ? say('550 5.1.1 No') : null),
  });
  await connected(connection);
  const info = await new Promise((resolve, reject) => {
    const envelope = { from: 'a@b.example', to: ['one@x.example', 'two@x.example'] };
    connection.send(envelope, 'a: b\r\n\r\n', (error, sent) =>
      error === null ? resolve(sent) : reject(error),
    );
  });
  t.match(info, { accepted: ['two@x.example'], rejected: ['one@x.example'] });
  t.notOk(smarthost.sessions[0]?.hasPipelined);
  t.same(smarthost.submissions[0]?.recipients, ['two@x.example']);
});
