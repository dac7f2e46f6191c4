import t from 'tap';
import { createAgent } from '../support/box/agents.js';
import { deliver } from '../support/smtp/deliver.js';
import { createWebhook, startHookBox } from '../support/webhooks/hook-box.js';
import { startReceiver } from '../support/webhooks/receiver.js';

const ENDPOINTS = 10;
const MAILS = 30;

t.test('endpoints that never answer hold up neither mail nor other endpoints', async t => {
  const box = await startHookBox(t);
  const slow = await createAgent(box, 'slow');
  const quick = await createAgent(box, 'quick');
  const tarpit = await startReceiver(t);
  // No answer comes while the test lasts: whatever is told meanwhile did not wait for one.
  tarpit.answers(() => 'silence');
  const well = await startReceiver(t);
  const beside = await startReceiver(t);
  for (let n = 1; n < ENDPOINTS; n++) await createWebhook(slow, `${tarpit.url}/${n}`);
  await createWebhook(slow, beside.url, { types: ['message.received'] });
  await createWebhook(quick, well.url, { types: ['message.received'] });
  for (let n = 0; n < MAILS; n++) await deliver(box, slow.address, `Subject: ${n}\r\n\r\nHi\r\n`);
  await tarpit.until(({ received }) => received.length >= ENDPOINTS - 1);
  for (let n = 0; n < MAILS; n++) await deliver(box, quick.address, `Subject: ${n}\r\n\r\nHi\r\n`);
  await well.until(({ taken }) => taken.length >= MAILS);
  await beside.until(({ taken }) => taken.length >= MAILS);
  t.strictSame(new Set(well.taken.map(({ json }) => json.summary.subject)).size, MAILS);
  t.ok(tarpit.open.most <= 8 * (ENDPOINTS - 1), 'eight requests an endpoint at most');
  const { messages } = (await quick.api.get(`/v1/inboxes/${quick.inboxId}/messages?limit=100`)).json<{
    messages: { processing_status: string }[];
  }>();
  t.equal(messages.filter(({ processing_status }) => processing_status === 'ready').length, MAILS);
  t.equal((await box.stop()).code, 0, 'and no stop waits for them');
});
