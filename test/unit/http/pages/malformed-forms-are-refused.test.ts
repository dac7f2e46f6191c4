import { connect } from 'node:net';
import t from 'tap';
import { withAccess } from '../with-access.js';
import { readToEnd } from '../with-server.js';

const FORM = 'application/x-www-form-urlencoded';

t.test('what is no form of the page is told on a page', async t => {
  const access = await withAccess(t, { trustedProxies: ['127.0.0.1'] });
  let n = 0;
  for (const [what, type, body, status] of [
    ['JSON', 'application/json', '{"email":"a@b.example"}', 415],
    ['multipart', 'multipart/form-data; boundary=x', '--x--', 415],
    ['no type', '', 'email=a@b.example', 415],
    ['another charset', `${FORM}; charset=iso-8859-1`, 'email=a@b.example', 415],
    ['an unknown field', FORM, 'email=a@b.example&seal=x&admin=1', 400],
    ['a field twice', FORM, 'email=a@b.example&email=c@d.example', 400],
    ['bytes that are no UTF-8', FORM, Buffer.from('email=\xff\xfe', 'latin1'), 400],
    ['escapes that are no UTF-8', FORM, 'email=%ff%fe', 400],
    ['broken escapes', FORM, 'email=%zz', 400],
    ['over 4096 bytes', FORM, `email=${'x'.repeat(4096)}`, 413],
  ] as const) {
    const headers = { 'content-type': type, 'x-forwarded-for': `198.51.100.${++n}` };
    const answer = await access.call('/approve', { method: 'POST', headers, body });
    t.equal(answer.status, status, what);
    t.match(answer.headers['content-type'], /^text\/html/, what);
    t.match(answer.bytes.toString(), /<h1>This form cannot be read<\/h1>/, what);
  }
});

t.test('an empty form and a charset of UTF-8 are no fault of form', async t => {
  const access = await withAccess(t);
  for (const type of [FORM, `${FORM}; charset=UTF-8`, `${FORM};charset="utf-8"`]) {
    const answer = await access.call('/approve', {
      method: 'POST',
      headers: { 'content-type': type },
      body: '',
    });
    t.match([answer.status, answer.bytes.toString()], [403, /out of date/], type);
  }
});

t.test('a body that is announced too large is not read', async t => {
  const access = await withAccess(t);
  const socket = connect(access.port, '127.0.0.1');
  socket.write(
    `POST /approve HTTP/1.1\r\nHost: x\r\nContent-Type: ${FORM}\r\nContent-Length: 1000000000\r\n\r\nemail=`,
  );
  const answer = await readToEnd(socket);
  socket.destroy();
  t.match(answer, /^HTTP\/1\.1 413 /);
  t.match(answer, /\r\nconnection: close/i);
});

t.test('other methods are told which there are', async t => {
  const access = await withAccess(t);
  for (const [path, method, allow] of [
    ['/approve', 'PUT', 'GET, HEAD, POST'],
    ['/policy', 'POST', 'GET, HEAD'],
    ['/v1/claims', 'GET', 'POST'],
  ] as const) {
    const answer = await access.call(path, { method });
    t.same([answer.status, answer.headers.allow], [405, allow]);
  }
});
