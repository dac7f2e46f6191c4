import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { startSmarthostBox } from '../../support/smarthost/smarthost-box.js';
import { deliver } from '../../support/smtp/deliver.js';
import { createWebhook, HOOKS_HERE, startHookBox } from '../../support/webhooks/hook-box.js';
import { isSignedWith, startReceiver } from '../../support/webhooks/receiver.js';

const RECEIVED = { types: ['message.received'] };

t.test('mail is told with its summary, signed, while the daemon runs and after a restart', async t => {
  const box = await startHookBox(t);
  const agent = await createAgent(box);
  const receiver = await startReceiver(t);
  const webhook = await createWebhook(agent, receiver.url, RECEIVED);
  await deliver(box, agent.address, 'Subject: One\r\nFrom: a@elsewhere.example\r\n\r\nThe body of it\r\n');
  await receiver.until(({ taken }) => taken.length === 1);
  const [one] = receiver.taken;
  if (one === undefined) throw new Error('nothing came');
  t.ok(isSignedWith(webhook.secret, one));
  t.match(one.json, {
    type: 'message.received',
    inbox_id: agent.inboxId,
    summary: { subject: 'One', processing_status: 'ready', from: { address: 'a@elsewhere.example' } },
  });
  t.notMatch(one.body, /The body of it/, 'no body');
  t.equal((await box.stop()).code, 0);
  await box.start();
  await deliver(box, agent.address, 'Subject: Two\r\n\r\nHi\r\n');
  await receiver.until(({ taken }) => taken.length === 2);
  t.match(receiver.taken[1]?.json, { summary: { subject: 'Two' } });
  t.equal((await agent.api.get(`/v1/webhooks/${webhook.id}`)).json<{ waiting: number }>().waiting, 0);
});

t.test('an endpoint that is down is told when it is back', async t => {
  const box = await startHookBox(t);
  const agent = await createAgent(box);
  const receiver = await startReceiver(t);
  const webhook = await createWebhook(agent, receiver.url, RECEIVED);
  await receiver.stop();
  for (let n = 0; n < 20; n++) await deliver(box, agent.address, `Subject: ${n}\r\n\r\nHi\r\n`);
  const waiting = async () =>
    (await agent.api.get(`/v1/webhooks/${webhook.id}`)).json<{ waiting: number }>().waiting;
  while ((await waiting()) === 0) await delay(50);
  await receiver.start();
  await receiver.until(({ taken }) => taken.length >= 20);
  const subjects = new Set(receiver.taken.map(({ json }) => json.summary.subject));
  t.equal(subjects.size, 20);
  const { deliveries } = (await agent.api.get(`/v1/webhooks/${webhook.id}/deliveries`)).json<{
    deliveries: { attempts: number }[];
  }>();
  t.ok(deliveries.some(({ attempts }) => attempts > 1));
});

t.test('its human is told by mail', async t => {
  const { box, smarthost } = await startSmarthostBox(t, HOOKS_HERE);
  const agent = await createAgent(box);
  const receiver = await startReceiver(t);
  const webhook = await createWebhook(agent, receiver.url, RECEIVED);
  const mail = async (count: number) => {
    await smarthost.until(() => smarthost.submissions.length >= count);
    const { content, recipients } = smarthost.submissions[count - 1] ?? {};
    return { text: String(content), recipients };
  };
  const made = await mail(1);
  t.match(made.text, /Subject: A webhook was added to your account/);
  t.ok(made.text.includes(receiver.url));
  t.strictSame(made.recipients, [agent.email]);
  await agent.api.patch(`/v1/webhooks/${webhook.id}`, { url: `${receiver.url}/elsewhere` });
  t.match((await mail(2)).text, /Subject: A webhook of your account leads elsewhere now/);
  receiver.answers(() => 410);
  await deliver(box, agent.address, 'Subject: One\r\n\r\nHi\r\n');
  t.match((await mail(3)).text, /Subject: A webhook was disabled: its endpoint is gone/);
  t.ok(box.lines.some(({ msg, reason }) => /a webhook was disabled/.test(msg) && reason === 'gone'));
});

t.test('the command line sees and steers webhooks beside the daemon', async t => {
  const box = await startHookBox(t);
  const agent = await createAgent(box);
  const receiver = await startReceiver(t);
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await box.cli('--json', 'webhook', ...args);
    if (code !== 0) throw new Error(`webhook ${args.join(' ')}: ${stderr}`);
    return JSON.parse(stdout);
  };
  const choice = ['--type', 'message.received', '--inbox', agent.address];
  const made = await run('create', receiver.url, '--account', agent.email, ...choice);
  t.match(made, { secret: /^whsec_/, types: ['message.received'], inbox_ids: [agent.inboxId] });
  t.match(await run('list', '--account', agent.email), {
    webhooks: [{ id: made.id, account_id: agent.accountId }],
  });
  await deliver(box, agent.address, 'Subject: One\r\n\r\nHi\r\n');
  await receiver.until(({ taken }) => taken.length === 1);
  t.match(await run('test', made.id), { status: 204, reason: null });
  t.match(receiver.taken[1]?.json, { type: 'webhook.test' });
  t.match(await run('set', made.id, '--disable'), { status: 'disabled', disabled_reason: 'requested' });
  await deliver(box, agent.address, 'Subject: Two\r\n\r\nHi\r\n');
  t.match(await run('set', made.id, '--enable', '--all-types'), { status: 'enabled', types: [] });
  await receiver.until(({ taken }) => taken.some(({ json }) => json.summary?.subject === 'Two'));
  const before = receiver.taken.length;
  t.match(await run('replay', made.id, '--after', '0'), { sequence: 0 });
  await receiver.until(({ taken }) => taken.length >= before + 3);
  t.match(await run('rotate', made.id), { secret: /^whsec_/, secrets: [{ expires_at: null }, {}] });
  const { deliveries } = await run('deliveries', made.id);
  t.ok(deliveries.length >= 3);
  const text = await box.cli('webhook', 'deliveries', made.id);
  t.match(text.stdout, /SEQUENCE +TYPE +STATE/);
  t.match((await box.cli('webhook', 'show', made.id)).stdout, /types +all/);
  await run('delete', made.id);
  t.equal((await box.cli('webhook', 'show', made.id)).code, 4);
  t.equal((await box.cli('webhook', 'create', 'https://10.0.0.1/', '--account', agent.email)).code, 1);
  t.match(await box.cliJson('verify'), { sound: true });
});
