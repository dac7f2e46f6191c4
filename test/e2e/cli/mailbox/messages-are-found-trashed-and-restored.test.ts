import type { Test } from 'tap';
import t from 'tap';
import type { AccountId, MessageId } from '../../../../src/domain/ids.js';
import { changeLabels, receivedMessages, trashMessage } from '../../../support/use-cases.js';
import { type CliBox, cliBox, DOMAIN } from '../cli-box.js';

const AGENT = `agent@${DOMAIN}`;

interface Listed {
  readonly messages: readonly { readonly id: string; readonly labels: readonly string[] }[];
}

async function boxWithInbox(t: Test): Promise<CliBox> {
  const box = await cliBox(t);
  box.env.POSTERN_TRASH_RETENTION_DAYS = '3';
  await box.json('account', 'create', 'ada@example.org');
  await box.json('inbox', 'create', '--account', 'ada@example.org', 'agent');
  return box;
}

async function accountOf(box: CliBox): Promise<AccountId> {
  const { account_id } = await box.json<{ account_id: AccountId }>('account', 'show', 'ada@example.org');
  return account_id;
}

async function label(box: CliBox, messageId: MessageId, ...addLabels: string[]): Promise<void> {
  const accountId = await accountOf(box);
  await box.withStore(store =>
    changeLabels({ store, access: receivedMessages }, { accountId, messageId, addLabels, removeLabels: [] }),
  );
}

const ids = ({ messages }: Listed) => messages.map(({ id }) => id);

t.test('a list is narrowed by labels, addresses, subject and time', async t => {
  const box = await boxWithInbox(t);
  const [a, b, c] = [
    await box.deliver(AGENT, 'raw'),
    await box.deliver(AGENT, 'raw'),
    await box.deliver(AGENT, 'raw'),
  ];
  await label(box, a, 'work', 'urgent');
  await label(box, b, 'work', 'a,b');
  await box.prepare(b, {
    json: Buffer.from('{"text":null}'),
    subject: 'Quarterly report',
    senders: ['ann@example.net'],
    recipients: [AGENT],
  });
  const list = async (...options: string[]) =>
    ids(await box.json<Listed>('message', 'list', AGENT, ...options));
  t.strictSame(await list(), [c, b, a]);
  t.strictSame(await list('--order', 'oldest'), [a, b, c]);
  t.strictSame(await list('--label', 'work'), [b, a]);
  t.strictSame(await list('--label', 'work', '--label', 'urgent'), [a]);
  t.strictSame(await list('--any-label', 'urgent', '--any-label', 'a,b'), [b, a]);
  t.strictSame(await list('--without-label', 'urgent'), [c, b]);
  t.strictSame(await list('--without-label', 'urgent', '--label', 'work'), [b]);
  t.strictSame(await list('--from', 'Ann@Example.net'), [b]);
  t.strictSame(await list('--recipient', AGENT, '--subject', 'REPORT'), [b]);
  t.strictSame(await list('--after', '2000-01-01T00:00:00Z', '--before', '2001-01-01T00:00:00Z'), []);
  t.strictSame((await box.json<Listed>('message', 'list', AGENT, '--label', 'urgent')).messages[0]?.labels, [
    'urgent',
    'work',
  ]);
  t.match((await box.run('message', 'list', AGENT, '--label', 'urgent')).out, /LABELS\n.*urgent, work\n/);
  t.match((await box.run('message', 'show', a)).out, /^labels +urgent, work$/m);

  for (const [options, code, exit] of [
    [['--label', ' '], 'invalid_labels', 1],
    [['--from', 'ann'], 'invalid_search', 1],
    [['--after', 'yesterday'], 'invalid_search', 1],
    [['--order', 'relevance'], 'usage', 2],
  ] as const) {
    const refused = await box.failure('message', 'list', AGENT, ...options);
    t.match(refused, { code: exit, error: { code } }, options.join(' '));
  }
});

t.test('trash, restore, delete and parse again, in no regard of what the account may do', async t => {
  const box = await boxWithInbox(t);
  const id = await box.deliver(AGENT, 'raw');
  await label(box, id, 'kept');
  await box.prepare(id, { json: Buffer.from('{"text":null}'), subject: 'Hello' });
  const permissions = await box.json(
    'account',
    'permissions',
    '--account',
    'ada@example.org',
    '--no-delete',
    '--no-restore',
  );
  t.match(permissions, { send: true, delete: false, restore: false });
  const accountId = await accountOf(box);
  const asAgent = await box.withStore(store =>
    trashMessage(
      { store, clock: Date.now, access: receivedMessages, retentionDays: 7 },
      { accountId, messageId: id },
    ),
  );
  t.match(asAgent, { failure: { code: 'operation_not_allowed' } });

  const trashed = await box.json('message', 'trash', id);
  t.match(trashed, { id, status: 'trashed' });
  const days = (Date.parse(trashed.restorable_until!) - Date.parse(trashed.deleted_at!)) / 86_400_000;
  t.equal(days, 3, 'trash.retention_days');
  t.match(await box.json('message', 'trash', id), { ...trashed, status: 'already_trashed' });
  t.strictSame(ids(await box.json<Listed>('message', 'list', AGENT)), []);
  t.match(await box.failure('message', 'show', id), { code: 4, error: { code: 'not_found' } });

  t.match(await box.json('message', 'restore', id), { id, status: 'restored' });
  t.match(await box.json('message', 'restore', id), { id, status: 'already_live' });
  t.match(await box.json<Listed>('message', 'list', AGENT), { messages: [{ id, labels: ['kept'] }] });

  t.match(await box.json('message', 'reparse', id), { id, processing_status: 'pending' });
  t.match(
    await box.json('message', 'reparse', id),
    { id, processing_status: 'pending' },
    'as often as one likes',
  );
  const again = await box.json<Record<string, unknown>>('message', 'show', id);
  t.match(again, { processing_status: 'pending', subject: null, labels: ['kept'] });
  t.notOk('content' in again);
  await box.prepare(id, { json: Buffer.from('{"text":null}'), subject: 'Better' });
  t.match(await box.json('message', 'show', id), { processing_status: 'ready', subject: 'Better' });

  t.match(await box.json('message', 'delete', id), { id, status: 'deletion_pending' });
  for (const command of ['trash', 'restore', 'delete', 'reparse']) {
    const missing = await box.failure('message', command, id);
    t.match(
      missing,
      { code: 4, out: '', error: { code: 'not_found', message: /message list INBOX/ } },
      command,
    );
  }
});

t.test('permissions are shown, and what is not named stays', async t => {
  const box = await boxWithInbox(t);
  const permissions = (...options: string[]) =>
    box.json<Record<string, unknown>>('account', 'permissions', '--account', 'Ada@Example.org', ...options);
  t.match(await permissions(), { email: 'ada@example.org', send: true, delete: true, restore: true });
  t.match(await permissions('--no-send'), { send: false, delete: true, restore: true });
  t.match(await permissions('--no-restore', '--send'), { send: true, delete: true, restore: false });
  t.match(await permissions('--restore', '--no-delete'), { send: true, delete: false, restore: true });
  t.match(await permissions(), { send: true, delete: false, restore: true });
  t.match((await box.run('account', 'permissions', '--account', 'ada@example.org')).out, /^delete +false$/m);
  t.match(await box.failure('account', 'permissions', '--account', 'nobody@example.org'), {
    code: 4,
    error: { code: 'not_found' },
  });
  t.match(await box.failure('account', 'permissions'), { code: 2, error: { code: 'usage' } });
});
