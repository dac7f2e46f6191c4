import t from 'tap';
import { startBox } from '../../support/box/postern-box.js';

const NAME = 'Letters & Co';
const PUBLIC_URL = 'https://mail.agents.test';

t.test('anyone gets the contract of the API, and the same one from every start', async t => {
  const box = await startBox(t, {
    env: { POSTERN_SERVICE_NAME: NAME, POSTERN_SERVICE_PUBLIC_URL: PUBLIC_URL },
  });
  const stranger = box.api();
  const answer = await stranger.get('/openapi.json');
  t.equal(answer.status, 200);
  t.match(answer.headers, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(answer.bytes.length),
    'cache-control': 'no-store',
    'x-request-id': String,
  });
  t.match(answer.json(), {
    openapi: '3.1.0',
    info: { title: `${NAME} API`, version: '1.0.0' },
    servers: [{ url: PUBLIC_URL }],
    security: [{ bearerAuth: [] }],
    components: { securitySchemes: { bearerAuth: { type: 'http', scheme: 'bearer' } } },
  });

  const head = await stranger.request('HEAD', '/openapi.json');
  t.equal(head.headers['content-length'], answer.headers['content-length']);
  t.equal((await stranger.delete('/openapi.json')).status, 405);
  t.equal((await stranger.get('/v1/openapi.json')).status, 404, 'it stands beside /v1, not in it');

  await box.restart();
  t.ok((await stranger.get('/openapi.json')).bytes.equals(answer.bytes), 'byte for byte');
});
