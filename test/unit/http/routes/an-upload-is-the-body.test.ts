import t from 'tap';
import { MAX_UPLOAD_BYTES } from '../../../../src/contract/limits.js';
import { pattern } from '../../store/with-blobs.js';
import { faultsOf, usedBy } from '../../usecases/uploads/with-uploads.js';
import { readToEnd, withServer } from '../with-server.js';

const head = (credential: string, more: string) =>
  `POST /v1/uploads HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${credential}\r\n${more}\r\n\r\n`;

t.test('bytes of any type, to the last one that is allowed, however their length is told', async t => {
  const { call, house } = await withServer(t);
  for (const headers of [{}, { 'transfer-encoding': 'chunked' }]) {
    for (const [size, status] of [
      [0, 201],
      [3, 201],
      [70_000, 201],
      [MAX_UPLOAD_BYTES, 201],
      [MAX_UPLOAD_BYTES + 1, 413],
    ] as const) {
      const answer = await call('/v1/uploads', { method: 'POST', headers, body: pattern(size) });
      t.equal(answer.status, status, `${size} ${JSON.stringify(headers)}`);
      if (status === 201) t.equal(answer.json.size, size);
    }
  }
  for (const type of ['application/json', 'application/x-www-form-urlencoded', 'image/png', 'nonsense']) {
    const answer = await call('/v1/uploads', { headers: { 'content-type': type }, body: '{"a":1' });
    t.equal(answer.status, 201, type);
  }
  await house.sweepAll();
  t.same(faultsOf(house), []);
});

t.test('a form and compressed bytes are refused: they are not the file', async t => {
  const { call, house } = await withServer(t);
  for (const headers of [
    { 'content-type': 'multipart/form-data; boundary=x' },
    { 'content-encoding': 'gzip' },
  ] as Record<string, string>[]) {
    const answer = await call('/v1/uploads', { headers, body: 'abc' });
    t.match([answer.status, answer.json], [415, { error: { code: 'unsupported_media_type' } }]);
  }
  const plain = { 'content-encoding': 'identity' };
  t.equal((await call('/v1/uploads', { headers: plain, body: 'abc' })).status, 201);
  t.equal((await call('/v1/uploads', { headers: { authorization: 'x' }, body: 'abc' })).status, 401);
  t.equal((await call('/v1/uploads')).status, 405);
  t.equal((await call('/v1/uploads/x', { method: 'DELETE' })).status, 404);
  t.equal(usedBy(house).uploads, 1024 + 3);
});

t.test('with Expect: 100-continue nothing is asked for that will not be stored', async t => {
  const { socket, credential } = await withServer(t);
  for (const [length, status] of [
    [MAX_UPLOAD_BYTES + 1, 413],
    [5, 201],
  ] as const) {
    const client = await socket();
    const answer = readToEnd(client);
    client.once('data', first => {
      if (String(first).startsWith('HTTP/1.1 100 Continue')) client.write('abcde');
      else client.end();
    });
    client.write(head(credential, `Content-Length: ${length}\r\nExpect: 100-continue\r\nConnection: close`));
    const text = await answer;
    t.equal(/^HTTP\/1\.1 100 /.test(text), status === 201);
    t.match(text, new RegExp(`HTTP/1\\.1 ${status} `));
  }
});

t.test('the answer to what is too large reaches a client that keeps sending', async t => {
  const { socket, credential, house } = await withServer(t);
  const client = await socket();
  client.pause();
  client.write(head(credential, 'Transfer-Encoding: chunked'));
  for (let sent = 0; sent <= MAX_UPLOAD_BYTES && !client.destroyed; sent += 60_000) {
    await new Promise(resolve =>
      client.write(`${(60_000).toString(16)}\r\n${'x'.repeat(60_000)}\r\n`, resolve),
    );
  }
  t.match(await readToEnd(client.resume()), /^HTTP\/1\.1 413 /);
  await house.sweepAll();
  t.same(usedBy(house), { stored: 0, uploads: 0 });
  t.same(faultsOf(house), []);
});

t.test('clients that go away in the middle leave nothing, and trouble nobody', async t => {
  const { socket, credential, call, house, logged } = await withServer(t);
  const gone: Promise<unknown>[] = [];
  for (let n = 0; n < 12; n++) {
    const client = await socket();
    gone.push(new Promise(resolve => client.once('close', resolve)));
    client.write(head(credential, `Content-Length: ${n % 3 === 0 ? 60_000 : 1_000_000}`));
    client.write('x'.repeat(n % 3 === 0 ? 10_000 : 400_000), () =>
      n % 2 === 0 ? client.resetAndDestroy() : client.destroy(),
    );
  }
  await Promise.all(gone);
  const answer = await call('/v1/uploads', { body: 'abc' });
  t.equal(answer.status, 201, 'and their turn is given to others');
  await call(`/v1/uploads/${answer.json.upload_id}`, { method: 'DELETE' });
  await house.sweepAll();
  t.same(usedBy(house), { stored: 0, uploads: 0 });
  t.strictSame(logged, []);
});

t.test('a connection is kept when the file was read, and used again', async t => {
  const { socket, credential } = await withServer(t);
  const client = await socket();
  const answer = readToEnd(client);
  const one = `${head(credential, 'Content-Length: 3')}abc`;
  client.write(one + one);
  client.write(`${head(credential, 'Content-Length: 3\r\nConnection: close')}abc`);
  t.equal((await answer).match(/HTTP\/1\.1 201 /g)?.length, 3);
});

t.test('what is wrong with an attachment is told of the kind that it is nearest to', async t => {
  const { call, house } = await withServer(t);
  const inbox = await house.addInbox('agent');
  const send = async (attachment: object) => {
    const body = {
      to: [{ address: 'a@x.example' }],
      subject: 'Hi',
      text: 'Hello',
      attachments: [attachment],
    };
    const answer = await call(`/v1/inboxes/${inbox}/sent`, { body });
    const { code, message } = answer.json.error;
    return [answer.status, code, message];
  };
  const file = { filename: 'a', type: 'a/b' };
  const id = '0190b1f0-0000-7000-8000-00000000000a';
  for (const [attachment, status, code, message] of [
    [{ filename: 'a', content: '' }, 400, 'invalid_message', /^attachments\.0\.type: /],
    [{ ...file, content: 7 }, 400, 'invalid_message', /^attachments\.0\.content: /],
    [{ ...file, content: '', upload_id: id }, 400, 'invalid_message', /Unknown field: upload_id/],
    [{ ...file, upload_id: 7 }, 400, 'invalid_message', /^attachments\.0\.upload_id: /],
    [{ filename: 'a', upload_id: id }, 400, 'invalid_message', /^attachments\.0\.type: /],
    [{ ...file, message_id: id }, 400, 'invalid_message', /^attachments\.0\.attachment_id: /],
    [{ ...file, type: 'a', upload_id: id }, 400, 'invalid_message', /attachments\[0\]\.type/],
    [{ ...file, colour: 'red', upload_id: id }, 400, 'invalid_message', /Unknown field: colour/],
    [{ ...file, upload_id: id }, 404, 'not_found', /attachments\[0\]\.upload_id/],
    [{ ...file, content: null, message_id: null, upload_id: id }, 404, 'not_found', /upload_id/],
    [{ message_id: id, attachment_id: '1', filename: null }, 404, 'not_found', /message_id/],
  ] as const) {
    t.match(await send(attachment), [status, code, message], JSON.stringify(attachment));
  }
});
