import t from 'tap';
import { createAccountWithKey } from '../../support/box/agents.js';
import { startBox } from '../../support/box/postern-box.js';

interface Created {
  readonly id: string;
  readonly created_at: string;
  readonly replayed?: boolean;
  readonly idempotency_expires_at?: string;
}

// `createInbox` with an idempotency key: one request makes the inbox, matching ones get the same answer.
t.test('twenty matching requests at once make one inbox', async t => {
  const box = await startBox(t, { env: { POSTERN_LIMITS_INBOXES: '2' } });
  const account = await createAccountWithKey(box, 'a@example.net');
  const body = { local_part: 'keyed', name: 'Research', idempotency_key: 'key-1' };
  const answers = await Promise.all(Array.from({ length: 20 }, () => account.api.post('/v1/inboxes', body)));
  const statuses = answers.map(answer => answer.status).sort();
  t.same(statuses, [...Array(19).fill(200), 201]);
  const made = answers.map(answer => answer.json<Created>());
  t.equal(new Set(made.map(inbox => inbox.id)).size, 1);
  for (const [index, { headers, status }] of answers.entries()) {
    t.equal(headers.location, `/v1/inboxes/${made[index]!.id}`);
    t.equal(made[index]!.replayed, status === 200);
  }
  const { created_at, idempotency_expires_at } = made[0]!;
  t.equal(Date.parse(idempotency_expires_at!) - Date.parse(created_at), 24 * 60 * 60 * 1000);

  const equivalent = { ...body, local_part: ' KEYED ', name: ' Research ', sender_name: '' };
  const same = await account.api.post('/v1/inboxes', equivalent);
  t.same([same.status, same.json<Created>().id], [200, made[0]!.id], 'an equivalent request is the same');
  const other = await account.api.post('/v1/inboxes', { ...body, name: 'Other' });
  t.same([other.status, other.code], [409, 'idempotency_conflict']);
  t.match((await account.api.get('/v1/inboxes')).json(), { inbox_allowance: { allowance: 2, used: 1 } });

  await box.restart();
  t.equal((await account.api.post('/v1/inboxes', body)).status, 200, 'a key outlives the process');
  await account.api.delete(`/v1/inboxes/${made[0]!.id}`);
  const gone = await account.api.post('/v1/inboxes', body);
  t.same([gone.status, gone.code], [409, 'idempotency_result_unavailable']);
});

t.test('a refused request leaves its key unused', async t => {
  const box = await startBox(t, { env: { POSTERN_LIMITS_INBOXES: '1' } });
  const account = await createAccountWithKey(box, 'a@example.net');
  const taken = await account.api.post('/v1/inboxes', { local_part: 'postmaster', idempotency_key: 'k' });
  t.same([taken.status, taken.code], [409, 'address_unavailable']);
  t.equal((await account.api.post('/v1/inboxes', { local_part: 'first', idempotency_key: 'k' })).status, 201);
  const full = await account.api.post('/v1/inboxes', { local_part: 'second' });
  t.same([full.status, full.code], [409, 'inbox_limit_reached']);
  t.match(full.json(), {
    error: { details: { allowance: { allowance: 1, used: 1, remaining: 0, unit: 'inbox_slots' } } },
  });
});
