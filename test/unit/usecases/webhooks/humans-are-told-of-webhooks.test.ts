import t from 'tap';
import { END_OF_TIME, listDue } from '../../../../src/store/records/pending.js';
import { SystemMailError } from '../../../../src/usecases/accounts/feedback.js';
import { type MailNewsDeps, mailWebhookNews } from '../../../../src/usecases/webhooks/mail-news.js';
import { deleteWebhook, updateWebhook } from '../../../../src/usecases/webhooks/webhooks.js';
import { silent } from '../with-house.js';
import { type Hooks, withHooks } from './with-hooks.js';

interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

function mailOf({ house }: Hooks) {
  const sent: Mail[] = [];
  const state = { isDown: false, refused: '' };
  const deps: MailNewsDeps = {
    store: house.store,
    clock: house.clock,
    log: silent,
    operator: 'postmaster@example.org',
    serviceName: 'Postern',
    mail: {
      send: async mail => {
        if (mail.to === state.refused) throw new SystemMailError('the mailbox is full');
        if (state.isDown) throw new SystemMailError('the relay is away');
        sent.push(mail);
      },
    },
  };
  const pending = () => house.store.read(reader => listDue(reader, 'webhook-mail', END_OF_TIME, 10).length);
  return { sent, state, pending, run: () => mailWebhookNews(deps, () => false) };
}

t.test('of a new one and of a new URL, with what to do; of other changes not', async t => {
  const hooks = await withHooks(t);
  const { sent, run, pending } = mailOf(hooks);
  const { id, url } = await hooks.make();
  const caller = { accountId: hooks.house.account };
  await run();
  t.match(sent, [{ to: 'owner@elsewhere.example', subject: 'A webhook was added to your account' }]);
  t.ok(sent[0]?.text.includes(url));
  t.ok(sent[0]?.text.includes(`postern webhook delete ${id}`));
  await updateWebhook(hooks.webhooks, { caller, webhookId: id, types: [], enabled: false, url });
  await run();
  t.equal(sent.length, 1);
  await updateWebhook(hooks.webhooks, { caller, webhookId: id, url: `${url}/new` });
  hooks.house.now.ms += 10;
  await run();
  t.match(sent.slice(1), [{ subject: 'A webhook of your account leads elsewhere now' }]);
  t.equal(pending(), 0);
});

t.test('of one that ended by itself the operator hears too', async t => {
  const hooks = await withHooks(t);
  const { sent, run } = mailOf(hooks);
  const webhook = await hooks.make();
  hooks.receiver.answers(() => 410);
  await hooks.happen(1);
  await hooks.tell(webhook);
  hooks.house.now.ms += 10;
  await run();
  t.strictSame(
    sent.slice(1).map(({ to }) => to),
    ['owner@elsewhere.example', 'postmaster@example.org'],
  );
  for (const { text } of sent.slice(1)) t.match(text, /--enable/);
});

t.test('mail that does not leave is tried again, for some hours, also when the webhook is gone', async t => {
  const hooks = await withHooks(t);
  const { sent, state, run, pending } = mailOf(hooks);
  const { id } = await hooks.make();
  const caller = { accountId: hooks.house.account };
  await deleteWebhook(hooks.webhooks, { caller, webhookId: id });
  state.isDown = true;
  await run();
  await run();
  t.equal(pending(), 1);
  state.isDown = false;
  await run();
  t.equal(sent.length, 0, 'not at once');
  hooks.house.now.ms += 5 * 60_000;
  await run();
  t.equal(sent.length, 1);
  t.equal(pending(), 0);
  await hooks.make();
  state.isDown = true;
  for (let hours = 0; hours < 8; hours++) {
    await run();
    hooks.house.now.ms += 3_600_000;
  }
  t.equal(pending(), 0, 'then it is given up');
  t.strictSame(hooks.faults(), []);
});

t.test('whoever has it is not mailed again because the other cannot be reached', async t => {
  const hooks = await withHooks(t);
  const { sent, state, run, pending } = mailOf(hooks);
  const webhook = await hooks.make();
  await run();
  hooks.receiver.answers(() => 410);
  await hooks.happen(1);
  await hooks.tell(webhook);
  state.refused = 'postmaster@example.org';
  for (let hours = 0; hours < 3; hours++) {
    hooks.house.now.ms += 3_600_000;
    await run();
  }
  t.strictSame(
    sent.slice(1).map(({ to }) => to),
    ['owner@elsewhere.example'],
  );
  state.refused = '';
  hooks.house.now.ms += 3_600_000;
  await run();
  t.strictSame(
    sent.slice(2).map(({ to }) => to),
    ['postmaster@example.org'],
  );
  t.equal(pending(), 0);
  t.strictSame(hooks.faults(), []);
});
