import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { isLoopback } from '../../../src/domain/addresses.js';
import { checkedFetch } from '../../../src/signin/checked-fetch.js';

const GET = { method: 'GET', headers: {}, body: undefined, redirect: 'manual' } as const;

t.test('an endpoint without TLS is asked on this machine only', async t => {
  for (const url of [
    'http://192.0.2.1/token',
    'http://login.example.com/token',
    'http://localhost.evil.example/token',
    'http://127.0.0.1.evil.example/token',
    'ftp://192.0.2.1/token',
    'file:///etc/passwd',
  ]) {
    await t.rejects(checkedFetch(url, GET), /names an endpoint without TLS/, url);
  }
  for (const [host, isHere] of [
    ['localhost', true],
    ['127.0.0.1', true],
    ['[::1]', true],
    ['127.0.0.1.evil.example', false],
    ['localhost.evil.example', false],
    ['10.0.0.1', false],
  ] as const) {
    t.equal(isLoopback(host), isHere, host);
  }
});

t.test('a redirect is not followed', async t => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(302, { location: '/elsewhere' }).end();
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.closeAllConnections());
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const answer = await checkedFetch(`http://127.0.0.1:${port}/keys`, GET);
  t.equal(answer.status, 302);
  t.same(asked, ['/keys']);
});
