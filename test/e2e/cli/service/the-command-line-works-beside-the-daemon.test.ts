import t from 'tap';
import { createAgent } from '../../../support/box/agents.js';
import { startBox } from '../../../support/box/postern-box.js';
import { writeLetter } from '../../../support/letters/letters.js';
import { deliver } from '../../../support/smtp/deliver.js';

t.test('what the command line changes holds for the next request to the running daemon', async t => {
  const box = await startBox(t, { env: { POSTERN_LIMITS_INBOXES: '1' } });
  const email = 'human@example.net';
  await box.cliJson('account', 'create', email);
  const key = await box.cliJson<{ key_id: string; credential: string }>('key', 'create', '--account', email);
  const inbox = await box.cliJson<{ id: string; address: string }>(
    'inbox',
    'create',
    'agent',
    '--account',
    email,
  );
  const api = box.api(key.credential);
  t.match((await api.get('/v1/inboxes')).json(), { inboxes: [{ id: inbox.id }], inbox_limit: 1 });

  const id = await deliver(box, inbox.address, writeLetter({ subject: 'From outside' }));
  await api.finished(id);
  const shown = await box.cliJson<{ content: { subject: string } }>('message', 'show', id);
  t.equal(shown.content.subject, 'From outside', "and the daemon's work is seen by the command line");

  await box.cliJson('allowance', 'set', '--account', email, '--inboxes', '2');
  t.equal((await api.post('/v1/inboxes', { local_part: 'second' })).status, 201);

  t.equal((await box.cli('key', 'revoke', key.key_id)).code, 0);
  t.equal((await api.get('/v1/inboxes')).status, 401, 'a revoked key is cut off at once');
  t.equal((await api.get(`/v1/messages/${id}`)).status, 401);
});

t.test('an inbox that the command line deletes takes no more mail', async t => {
  const box = await startBox(t);
  const agent = await createAgent(box);
  await deliver(box, agent.address, writeLetter());
  t.equal((await box.cli('inbox', 'delete', agent.address)).code, 0);
  await t.rejects(deliver(box, agent.address, writeLetter()), /550 5\.1\.1/);
  t.equal((await agent.api.get(`/v1/inboxes/${agent.inboxId}/messages`)).status, 404);
});
