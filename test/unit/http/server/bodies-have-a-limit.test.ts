import t from 'tap';
import { z } from 'zod';
import { json, type ServedRoute } from '../../../../src/http/server/route.js';
import { readToEnd, withServer } from '../with-server.js';

const head = (credential: string, more: string) =>
  `POST /v1/inboxes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${credential}\r\nContent-Type: application/json\r\n${more}\r\n\r\n`;

t.test('to the byte, however the length is told', async t => {
  const { call } = await withServer(t);
  const body = (size: number) => `{"local_part":"a","name":"${'x'.repeat(size - 28)}"}`;
  t.equal(Buffer.byteLength(body(4096)), 4096);
  for (const headers of [{}, { 'transfer-encoding': 'chunked' }]) {
    const send = (size: number) =>
      call('/v1/inboxes', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: body(size),
      });
    t.equal((await send(4096)).json.error.code, 'invalid_name', 'read, and refused for what it says');
    t.equal((await send(4097)).json.error.code, 'body_too_large');
  }
});

t.test('a body in many small chunks is put together', async t => {
  const { socket, credential } = await withServer(t);
  const client = await socket();
  client.write(head(credential, 'Transfer-Encoding: chunked\r\nConnection: close'));
  for (const char of '{"local_part":"agent"}') client.write(`1\r\n${char}\r\n`);
  client.write('0\r\n\r\n');
  t.match(await readToEnd(client), /^HTTP\/1\.1 201 /);
});

for (const [name, length] of [
  ['declared', 'Content-Length: 1000000000'],
  ['chunked', 'Transfer-Encoding: chunked'],
] as const) {
  t.test(`the answer to a ${name} body that is too large reaches a client that keeps sending`, async t => {
    const { socket, credential } = await withServer(t);
    const client = await socket();
    const answer = readToEnd(client);
    const piece = 'x'.repeat(65_536);
    let sent = 0;
    const pump = () => {
      while (!client.destroyed && client.writable && sent < 200_000_000) {
        sent += piece.length;
        if (!client.write(name === 'chunked' ? `10000\r\n${piece}\r\n` : piece))
          return void client.once('drain', pump);
      }
    };
    client.write(head(credential, length));
    pump();
    const text = await answer;
    t.match(text, /^HTTP\/1\.1 413 /);
    t.match(text, /"code":"body_too_large"/);
    t.match(text, /connection: close/i);
    t.ok(sent < 50_000_000, `${sent} bytes were taken`);
  });
}

t.test('a client that reads only when it has sent its whole body gets the answer too', async t => {
  const { socket, credential } = await withServer(t);
  for (const part of ['headers', 'key']) {
    const client = await socket();
    client.pause();
    const key = part === 'key' ? 'nonsense' : credential;
    client.write(head(key, 'Content-Length: 600000'));
    for (let sent = 0; sent < 600_000; sent += 60_000) {
      await new Promise(resolve => client.write('x'.repeat(60_000), resolve));
      // Some turns of the loop, in which the server has given its answer.
      for (let turn = 0; turn < 10; turn++) await new Promise(resolve => setImmediate(resolve));
      if (client.destroyed) return t.fail(`cut off after ${sent} bytes`);
    }
    const text = await readToEnd(client.resume());
    t.match(text, part === 'key' ? /^HTTP\/1\.1 401 / : /^HTTP\/1\.1 413 /);
  }
});

t.test('with Expect: 100-continue nothing is asked for that will not be read', async t => {
  const { socket, credential } = await withServer(t);
  for (const [length, status] of [
    [1_000_000, 413],
    [22, 201],
  ] as const) {
    const client = await socket();
    const answer = readToEnd(client);
    client.once('data', first => {
      if (String(first).startsWith('HTTP/1.1 100 Continue')) client.write('{"local_part":"agent"}');
      else client.end();
    });
    client.write(head(credential, `Content-Length: ${length}\r\nExpect: 100-continue\r\nConnection: close`));
    const text = await answer;
    t.equal(/^HTTP\/1\.1 100 /.test(text), status === 201);
    t.match(text, new RegExp(`HTTP/1\\.1 ${status} `));
  }
});

t.test('a body that grows over its first buffer is read whole', async t => {
  const route: ServedRoute = {
    method: 'POST',
    path: '/echo',
    auth: 'none',
    body: { limitBytes: 1_000_000, schema: z.looseObject({}), invalid: 'invalid_request' },
    handle: ({ body }) => json(200, body as object),
  };
  const { call } = await withServer(t, [route]);
  for (const size of [10, 4000, 5000, 100_000, 999_988]) {
    const answer = await call('/echo', { body: { a: 'x'.repeat(size) } });
    t.strictSame([answer.status, answer.json.a.length], [200, size]);
  }
  t.equal((await call('/echo', { body: { a: 'x'.repeat(1_000_000) } })).status, 413);
});

t.test('a client that goes away in the middle of its body troubles nobody', async t => {
  const { socket, credential, call, logged } = await withServer(t);
  for (let n = 0; n < 20; n++) {
    const client = await socket();
    client.write(head(credential, 'Content-Length: 4000'));
    client.write('{"local_part":', () => (n % 2 === 0 ? client.resetAndDestroy() : client.destroy()));
  }
  t.equal((await call('/v1/inboxes')).status, 200);
  t.strictSame(logged, []);
});

t.test('a connection is kept when the body was read, and used again', async t => {
  const { socket, credential } = await withServer(t);
  const client = await socket();
  const answer = readToEnd(client);
  const body = '{"local_part":"a b"}';
  const one = head(credential, `Content-Length: ${body.length}`) + body;
  client.write(one + one);
  client.end(head(credential, `Content-Length: ${body.length}\r\nConnection: close`) + body);
  t.equal((await answer).match(/HTTP\/1\.1 400 /g)?.length, 3);
});
