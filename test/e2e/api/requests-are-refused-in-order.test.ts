import { once } from 'node:events';
import net from 'node:net';
import t from 'tap';
import { type Account, createAccountWithKey } from '../../support/box/agents.js';
import { startBox } from '../../support/box/postern-box.js';

const JSON_TYPE = 'application/json';

const box = await startBox(t);
const account = await createAccountWithKey(box, 'a@example.net');

// The order of checks of every request (src/http/README.md): route, authentication, content type, size, JSON, fields.
t.test('of several faults of a request the first in order is told', async t => {
  const large = `{"local_part":"${'x'.repeat(5000)}"}`;
  const attempts: [
    string,
    { path?: string; key?: boolean; type?: string; body: string | Buffer },
    number,
    string,
  ][] = [
    [
      'an unknown path',
      { path: '/v1/nothing', key: false, type: 'text/plain', body: large },
      404,
      'not_found',
    ],
    ['no key', { key: false, type: 'text/plain', body: large }, 401, 'unauthorized'],
    ['no JSON type', { type: 'text/plain', body: large }, 415, 'unsupported_media_type'],
    ['no type', { body: large }, 415, 'unsupported_media_type'],
    ['a foreign charset', { type: `${JSON_TYPE}; charset=latin1`, body: '{' }, 415, 'unsupported_media_type'],
    ['too large', { type: JSON_TYPE, body: large }, 413, 'body_too_large'],
    ['not JSON', { type: JSON_TYPE, body: '{"local_part":' }, 400, 'invalid_json'],
    ['an array', { type: JSON_TYPE, body: '[]' }, 400, 'invalid_json'],
    ['a scalar', { type: JSON_TYPE, body: '"x"' }, 400, 'invalid_json'],
    ['nothing', { type: JSON_TYPE, body: '' }, 400, 'invalid_json'],
    ['a byte-order mark', { type: JSON_TYPE, body: '\ufeff{"local_part":"a"}' }, 400, 'invalid_json'],
    [
      'invalid UTF-8',
      { type: JSON_TYPE, body: Buffer.from('7b226c6f63616c5f70617274223a22ff227d', 'hex') },
      400,
      'invalid_json',
    ],
    [
      'keys that disagree',
      { type: JSON_TYPE, body: '{"local_part":"a","local_part":"b"}' },
      400,
      'invalid_json',
    ],
    [
      'too deep',
      { type: JSON_TYPE, body: `{"local_part":${'['.repeat(70)}${']'.repeat(70)}}` },
      400,
      'invalid_json',
    ],
    ['an unknown field', { type: JSON_TYPE, body: '{"local_part":"a","owner":"me"}' }, 400, 'invalid_inbox'],
    ['a bad local part', { type: JSON_TYPE, body: '{"local_part":"-a"}' }, 400, 'invalid_local_part'],
    ['a bad name', { type: JSON_TYPE, body: '{"local_part":"a","name":"a\\u0000b"}' }, 400, 'invalid_name'],
    [
      'a bad key',
      { type: JSON_TYPE, body: '{"local_part":"a","idempotency_key":"?"}' },
      400,
      'invalid_idempotency_key',
    ],
  ];
  for (const [title, { path = '/v1/inboxes', key = true, type, body }, status, code] of attempts) {
    const api = key ? account.api : box.api();
    const got = await api.request('POST', path, {
      body,
      headers: type === undefined ? {} : { 'content-type': type },
    });
    t.same([got.status, got.code], [status, code], title);
  }
  const good = await account.api.request('POST', '/v1/inboxes', {
    body: '{"local_part":"a"}',
    headers: { 'content-type': 'Application/JSON; charset="UTF-8"' },
  });
  t.equal(good.status, 201, 'parameters of the type are accepted');
  t.equal(
    (await account.api.get('/v1/inboxes')).json<{ inboxes: [] }>().inboxes.length,
    1,
    'nothing else was made',
  );
});

t.test('a body whose length is too large is refused without being asked for', async t => {
  t.match(await exchange(box.httpPort, account, 'Content-Length: 5000'), /^HTTP\/1\.1 413 /);
  t.match(
    await exchange(box.httpPort, account, 'Content-Length: 19', '{"local_part":"ab"}'),
    /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /,
    'one that fits is asked for',
  );
});

t.test('a body of unknown length is read no further than its limit', async t => {
  const chunk = `1000\r\n${'x'.repeat(4096)}\r\n`;
  const text = await exchange(box.httpPort, account, 'Transfer-Encoding: chunked', chunk + chunk);
  t.match(text, /HTTP\/1\.1 413 .*body_too_large/s);
});

/** Sends the head with `Expect: 100-continue`, then `body` when it is asked for; all that came until the end. */
async function exchange(port: number, account: Account, length: string, body?: string): Promise<string> {
  const socket = net.connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const head = [
    'POST /v1/inboxes HTTP/1.1',
    'Host: box',
    `Authorization: Bearer ${account.credential}`,
    'Content-Type: application/json',
    'Expect: 100-continue',
    length,
    'Connection: close',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  let text = '';
  socket.on('data', bytes => {
    const wasAsked = text.includes('100 Continue');
    text += bytes.toString('latin1');
    if (!wasAsked && body !== undefined && text.includes('100 Continue')) socket.write(body);
  });
  await once(socket, 'close');
  return text;
}
