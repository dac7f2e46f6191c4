import { once } from 'node:events';
import { get } from 'node:http';
import t, { type Test } from 'tap';
import type { TransferEncoding } from '../../../../src/domain/message-parts.js';
import { blobChunksTable } from '../../../../src/store/records/blobs.js';
import { pattern } from '../../store/with-blobs.js';
import { attached, index, prepared } from '../../usecases/with-parser.js';
import { readToEnd, withServer } from '../with-server.js';

t.test('bytes and headers are those of the original', async t => {
  const { call, house } = await withServer(t);
  const inbox = await house.addInbox('agent');
  for (const size of [0, 1, 65_520, 65_521, 3_000_000]) {
    const id = await house.receive(pattern(size), inbox);
    const answer = await call(`/v1/messages/${id}/raw`);
    t.equal(answer.status, 200);
    t.ok(answer.bytes.equals(pattern(size)), `${size} bytes`);
    t.match(answer.headers, {
      'content-type': 'message/rfc822',
      'content-length': String(size),
      'content-disposition': `attachment; filename="${id}.eml"`,
      'cache-control': /no-store/,
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
    });
  }
});

t.test('an attachment is never what it says it is, and comes when the message is ready', async t => {
  const { call, house } = await withServer(t);
  const id = await house.receive(pattern(100_000), await house.addInbox('agent'));
  t.equal((await call(`/v1/messages/${id}/attachments/a1`)).status, 404);
  await index(house, id, async () => ({
    status: 'parsed',
    prepared: prepared({}, [attached('a1', 'pägè.html', pattern(100_000))]),
  }));
  const answer = await call(`/v1/messages/${id}/attachments/a1`);
  t.ok(answer.bytes.equals(pattern(100_000)));
  t.equal(answer.headers['content-type'], 'application/octet-stream');
  t.equal(
    answer.headers['content-disposition'],
    `attachment; filename="p_g_.html"; filename*=UTF-8''p%C3%A4g%C3%A8.html`,
  );
  t.equal((await call(`/v1/messages/${id}/attachments/a2`)).status, 404);
});

t.test('missing bytes are 503 before the first, and a broken connection after it', async t => {
  const { call, house } = await withServer(t);
  const inbox = await house.addInbox('agent');
  const [first, second] = [
    await house.receive(pattern(500_000), inbox),
    await house.receive(pattern(500_000), inbox),
  ];
  await house.store.write(writer => {
    writer.remove(blobChunksTable, { id: house.message(first)!.raw.id, index: 0 });
    writer.remove(blobChunksTable, { id: house.message(second)!.raw.id, index: 4 });
  });
  const answer = await call(`/v1/messages/${first}/raw`);
  t.equal(answer.status, 503);
  t.equal(answer.json.error.code, 'content_unavailable');
  t.equal(answer.headers['content-disposition'], undefined);
  await t.rejects(call(`/v1/messages/${second}/raw`), { code: 'ECONNRESET' });
  for (const id of [first, second]) {
    await index(house, id, async () => ({
      status: 'parsed',
      prepared: prepared({}, [attached('a1', null, pattern(500_000))]),
    }));
  }
  t.match(await call(`/v1/messages/${first}/attachments/a1`), {
    status: 503,
    json: { error: { code: 'content_unavailable' } },
  });
  await t.rejects(call(`/v1/messages/${second}/attachments/a1`), { code: 'ECONNRESET' });
});

for (const encoding of ['identity', 'base64'] as const) stuckClient('attachments/a1', encoding);
stuckClient('raw', 'identity');

function stuckClient(what: string, encoding: TransferEncoding): void {
  t.test(`a client that does not read ${what}, ${encoding}, holds back the store, and may go away`, t =>
    holdBack(t, what, encoding),
  );
}

async function holdBack(t: Test, what: string, encoding: TransferEncoding): Promise<void> {
  const { house, port, credential, call, logged } = await withServer(t);
  const raw = encoding === 'base64' ? Buffer.alloc(20_000_000, 'QUJD') : pattern(20_000_000);
  const id = await house.receive(raw, await house.addInbox('agent'));
  const file = {
    ...attached('a1', null, raw),
    encoding,
    size: encoding === 'base64' ? 15_000_000 : raw.length,
  };
  await index(house, id, async () => ({ status: 'parsed', prepared: prepared({}, [file]) }));
  let chunks = 0;
  const { read } = house.store;
  house.store.read = work => {
    chunks++;
    return read.call(house.store, work) as never;
  };
  t.teardown(() => {
    house.store.read = read;
  });
  const client = get({
    host: '127.0.0.1',
    port,
    path: `/v1/messages/${id}/${what}`,
    headers: { authorization: `Bearer ${credential}` },
    agent: false,
  });
  const [response] = await once(client, 'response');
  // Another request goes through meanwhile, so the server has had its turns.
  for (let n = 0; n < 5; n++) t.equal((await call('/healthz')).status, 200);
  const seen = chunks;
  t.ok(seen < 250, `${seen} reads of 306 chunks`);
  const isClosed = once(response, 'close');
  response.on('error', () => {});
  response.destroy();
  await isClosed;
  for (let n = 0; n < 5; n++) t.equal((await call('/healthz')).status, 200);
  t.ok(chunks < 306, 'the rest was never read');
  t.strictSame(logged, []);
}

t.test('a request for a file that has a body of its own is answered in full', async t => {
  const { house, socket, credential } = await withServer(t);
  const id = await house.receive(pattern(300_000), await house.addInbox('agent'));
  const client = await socket();
  const answer = readToEnd(client);
  client.write(
    `GET /v1/messages/${id}/raw HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${credential}\r\nContent-Length: 400000\r\n\r\n`,
  );
  client.write('x'.repeat(100_000));
  client.on('data', () => client.write('x'.repeat(1000)));
  const text = await answer;
  t.match(text, /^HTTP\/1\.1 200 /);
  t.match(text, /connection: close/i);
  t.equal(text.length - text.indexOf('\r\n\r\n') - 4, 300_000);
});
