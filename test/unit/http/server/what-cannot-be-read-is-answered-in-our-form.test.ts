import t from 'tap';
import { readToEnd, withServer } from '../with-server.js';

/** The head of an answer and its body as JSON. */
function parsed(text: string) {
  const [head = '', body = ''] = text.split('\r\n\r\n');
  return { status: Number(head.slice(9, 12)), head, json: JSON.parse(body) };
}

t.test('request line and headers have 64 KiB together', async t => {
  const { call, socket } = await withServer(t);
  const labels = Array.from({ length: 96 }, (_, n) => `${100 + n}${'é'.repeat(60)}`);
  const groups = ['labels_all', 'labels_any', 'labels_none'];
  const query = labels.map((label, n) => `${groups[n % 3]}=${encodeURIComponent(label)}`).join('&');
  t.ok(query.length > 16 * 1024, `${query.length}`);
  t.equal((await call(`/v1/inboxes/0190a3a0-0000-7000-8000-000000000001/messages?${query}`)).status, 404);

  for (const head of [
    `GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(70_000)}\r\n\r\n`,
    `GET /healthz?${'x'.repeat(70_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
    `GET /healthz HTTP/1.1\r\nHost: x\r\n${'X-Many: y\r\n'.repeat(1_000_000)}\r\n`,
  ]) {
    const client = await socket();
    client.write(head);
    const { status, json, head: answer } = parsed(await readToEnd(client));
    t.same([status, json.error.code], [431, 'headers_too_large']);
    t.match(json.error.message, /65536 bytes/);
    t.match(answer, /^X-Request-ID: [0-9a-f-]{36}$/m);
    t.match(answer, /^Cache-Control: no-store$/m);
    t.match(answer, /^X-Content-Type-Options: nosniff$/m);
    t.match(answer, /^Connection: close$/m);
  }
});

t.test('what is no HTTP is told so', async t => {
  const { socket } = await withServer(t);
  for (const bytes of [
    'nonsense\r\n\r\n',
    'GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n',
    'GET /healthz HTTP/1.1\r\nHost: x\r\nBad header\r\n\r\n',
    'POST /v1/inboxes HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
  ]) {
    const client = await socket();
    client.write(bytes);
    const { status, json } = parsed(await readToEnd(client));
    t.same([status, json.error.code], [400, 'invalid_request'], JSON.stringify(bytes));
  }
});

t.test('it comes in no earlier answer’s place', async t => {
  let go = () => {};
  const isAsked = new Promise<void>(resolve => {
    go = resolve;
  });
  const { socket } = await withServer(t, [
    {
      method: 'GET',
      path: '/slow',
      auth: 'none',
      handle: () => {
        go();
        return new Promise(() => {});
      },
    },
  ]);
  const client = await socket();
  client.write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
  await isAsked;
  client.write('nonsense\r\n\r\n');
  t.equal(await readToEnd(client), '', 'closed without a word');
});
