import t from 'tap';
import { withServer } from '../with-server.js';

const URL = 'https://hooks.example.com/mail';

t.test('a webhook is made, read, changed, replayed and deleted', async t => {
  const { call, house } = await withServer(t);
  const inbox = await house.addInbox('agent');
  const made = await call('/v1/webhooks', {
    body: { url: URL, inbox_ids: [inbox], types: ['send.outcome'] },
  });
  t.equal(made.status, 201);
  const path = `/v1/webhooks/${made.json.id}`;
  t.equal(made.headers.location, path);
  const { secret, ...shown } = made.json;
  t.match(secret, /^whsec_/);
  t.match(shown, { url: URL, types: ['send.outcome'], inbox_ids: [inbox], status: 'enabled', sequence: 1 });
  t.strictSame((await call(path)).json, shown);
  t.strictSame((await call('/v1/webhooks')).json, { webhooks: [shown] });
  const changed = await call(path, { method: 'PATCH', body: { types: [], enabled: false } });
  t.match(changed.json, { types: [], inbox_ids: [inbox], status: 'disabled', disabled_reason: 'requested' });
  t.match((await call(`${path}/secret`, { method: 'POST' })).json.secrets, [{ expires_at: null }, {}]);
  t.strictSame((await call(`${path}/deliveries`)).json, { webhook_id: made.json.id, deliveries: [] });
  const { next_cursor } = (await call('/v1/events')).json;
  t.match(await call(`${path}/replay`, { body: { after: next_cursor } }), {
    status: 200,
    json: { sequence: 1 },
  });
  t.match(await call(`${path}/replay`, { body: { after: 'x' } }), {
    status: 400,
    json: { error: { code: 'invalid_cursor' } },
  });
  t.match(await call(`${path}/test`, { method: 'POST' }), { json: { status: null, reason: 'unknown_host' } });
  t.equal((await call(path, { method: 'DELETE' })).status, 202);
  t.equal((await call(path)).status, 404);
});

t.test('bad input is refused with its own code', async t => {
  const { call } = await withServer(t);
  for (const body of [
    {},
    { url: 7 },
    { url: 'http://hooks.example.com/' },
    { url: URL, types: ['mail'] },
    { url: URL, types: 'message.received' },
    { url: URL, inbox_ids: [7] },
    { url: URL, colour: 'red' },
  ]) {
    const { status, json } = await call('/v1/webhooks', { body });
    t.strictSame([status, json.error.code], [400, 'invalid_webhook'], JSON.stringify(body));
  }
  const missing = await call('/v1/webhooks', { body: { url: URL, inbox_ids: ['nonsense'] } });
  t.match(missing, { status: 404, json: { error: { code: 'not_found' } } });
  const made = await call('/v1/webhooks', { body: { url: URL } });
  const empty = await call(`/v1/webhooks/${made.json.id}`, { method: 'PATCH', body: {} });
  t.match(empty, { status: 400, json: { error: { code: 'invalid_webhook' } } });
  for (let n = 1; n < 10; n++) await call('/v1/webhooks', { body: { url: URL } });
  const more = await call('/v1/webhooks', { body: { url: URL } });
  t.match(more, { status: 409, json: { error: { code: 'webhook_limit_reached' } } });
});
