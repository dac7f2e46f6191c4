import t from 'tap';
import { createAgent, createInbox } from '../../support/box/agents.js';
import { acceptedId } from '../../support/letters/letters.js';
import { send as sendMail, submission } from '../../support/sending/sending.js';
import { authorBox, letter } from './author-box.js';

const REFUSED = '550 5.7.1 The recipient takes only mail whose author is proven (SPF, DKIM, DMARC)';
const LATER = '451 4.7.5 The author of the message cannot be verified now, try again later';

/** A report (RFC 3464) that a message could not be delivered. */
const report = (messageId: string) =>
  [
    'From: mailer-daemon@nothing.example',
    'To: agent@example.org',
    'Subject: Undeliverable',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=delivery-status; boundary=b',
    '',
    '--b',
    '',
    'It could not be delivered.',
    '--b',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.nothing.example',
    '',
    'Final-Recipient: rfc822; bob@nothing.example',
    'Action: failed',
    'Status: 5.1.1',
    '',
    '--b',
    'Content-Type: text/rfc822-headers',
    '',
    `Message-ID: <${messageId}>`,
    'Subject: hello',
    '',
    '--b--',
    '',
  ].join('\r\n');

t.test('--require-authentication', async t => {
  const { box, agent, send, signed, sealed, dns, facts } = await authorBox(t);
  const require = (...args: string[]) =>
    box.cliJson<object>('policy', 'receiving', 'set', agent.address, '--require-authentication', ...args);
  const textOf = async (...args: Parameters<typeof send>) => (await send(...args)).text;
  const open = await createInbox(agent, 'open');
  /** The Message-ID of what the agent has sent. */
  const lastSentId = async () =>
    (await facts()).sent.findLast(({ inboxId }) => inboxId === agent.inboxId)?.messageId ?? '';

  await t.test('takes what DMARC passes, and without DMARC what SPF or DKIM proves', async t => {
    t.match(await textOf(letter('ceo@bank.example')), /^250 /, 'before');
    await require();
    const id = acceptedId(await send(await signed(letter('ceo@bank.example'))));
    await agent.api.finished(id);
    t.match((await facts()).messages.find(record => record.id === id)?.authentication, { verdict: 'pass' });
    const plain = acceptedId(await send(letter('a@plain.example'), { from: 'a@plain.example' }));
    await agent.api.finished(plain);
    t.match((await facts()).messages.find(record => record.id === plain)?.authentication, {
      verdict: 'none',
      spf: { result: 'pass', aligned: true },
    });
  });

  await t.test('refuses the rest, and keeps no copy', async t => {
    const before = await agent.api.count(agent.inboxId);
    t.equal(await textOf(letter('ceo@bank.example')), REFUSED, 'fails, p=reject');
    t.equal(await textOf(letter('shop@shop.example')), REFUSED, 'fails, p=quarantine');
    t.equal(await textOf(letter('bob@nothing.example')), REFUSED, 'nothing speaks for it');
    // Proven, and not that it is the author.
    t.equal(await textOf(letter('bob@nothing.example'), { from: 'a@plain.example' }), REFUSED);
    t.equal(
      await textOf(letter('ann@partner.example, boss@bank.example'), { from: 'ann@partner.example' }),
      REFUSED,
    );
    t.equal(await textOf(await sealed(letter('ceo@bank.example'), 'pass')), REFUSED);
    t.equal(await textOf(letter('bob@dark.example')), LATER, 'the DNS does not say');
    t.equal(await agent.api.count(agent.inboxId), before);
  });

  await t.test('of several recipients', async t => {
    const both = { to: [agent.address, open.address] };
    const copies = await agent.api.count(open.id);
    const id = acceptedId(await send(letter('bob@nothing.example'), both));
    t.match(await agent.api.detail(id), { inbox_id: open.id }, 'who takes it, gets it');
    t.equal(await textOf(letter('bob@dark.example'), both), LATER, 'all are asked for again');
    t.equal(await agent.api.count(open.id), copies + 1, 'and nobody has it');
    t.match(await textOf(letter('bob@dark.example'), { to: [open.address] }), /^250 /);
    t.match(await textOf(letter('bob@dark.example'), { to: ['postmaster@example.org'] }), /^250 /);
  });

  await t.test('takes reports about what it has sent', async t => {
    t.match((await sendMail(agent, submission(open.address))).message, { status: 'accepted' });
    const known = await lastSentId();
    t.match(await textOf(report(known), { from: '' }), /^250 /);
    t.equal(
      await textOf(report(known), { from: 'mailer-daemon@nothing.example' }),
      REFUSED,
      'not by the null sender',
    );
    t.equal(await textOf(report(`x${known}`), { from: '' }), REFUSED, 'about another message');
    t.equal(await textOf(letter('bob@nothing.example'), { from: '' }), REFUSED, 'no report');
    const stranger = await createAgent(box, 'stranger');
    await box.cliJson('policy', 'receiving', 'set', stranger.address, '--require-authentication');
    t.equal(
      await textOf(report(known), { from: '', to: [stranger.address] }),
      REFUSED,
      "of another's message",
    );
  });

  await t.test('takes mail from inboxes here; narrowed, from those named', async t => {
    const sendHere = async () =>
      (await sendMail({ ...agent, inboxId: open.id }, submission(agent.address))).message.status;
    const known = await lastSentId();
    t.equal(await sendHere(), 'accepted');
    await require('--from-domain', 'partner.example', '--from-address', 'ceo@bank.example');
    t.equal(await sendHere(), 'rejected');
    t.match(await textOf(letter('ann@partner.example'), { from: 'ann@partner.example' }), /^250 /);
    t.match(await textOf(await signed(letter('ceo@bank.example'))), /^250 /);
    t.equal(await textOf(letter('ceo@bank.example')), REFUSED, 'named, and not proven');
    t.equal(await textOf(await signed(letter('clerk@bank.example'))), REFUSED, 'proven, and not named');
    t.equal(await textOf(letter('a@plain.example'), { from: 'a@plain.example' }), REFUSED);
    const asked = dns.asked.length;
    t.equal(await textOf(letter('bob@dark.example')), REFUSED, 'not named: no proof would help');
    t.equal(dns.asked.length, asked, 'so nobody is asked');
    t.match(await textOf(report(known), { from: '' }), /^250 /);
    await require('--from-address', open.address);
    t.equal(await sendHere(), 'accepted');
  });

  await t.test('beside the list of those who are refused, and until it is taken back', async t => {
    await require();
    await box.cli('policy', 'receiving', 'set', agent.address, '--enable', '--domain', 'partner.example');
    const ann = [letter('ann@partner.example'), { from: 'ann@partner.example' }] as const;
    t.match(await textOf(...ann), /^550 5\.7\.1 The recipient does not accept mail from this sender/);
    await box.cli('policy', 'receiving', 'disable', agent.address);
    t.match(await textOf(...ann), /^250 /);
    t.equal(await textOf(letter('shop@shop.example')), REFUSED);
    const shown = await agent.api.get(`/v1/inboxes/${agent.inboxId}/receiving-policy`);
    t.same(Object.keys(shown.json<object>()), ['inbox_id', 'enabled', 'addresses', 'domains', 'revision']);
    await box.cli('policy', 'receiving', 'set', agent.address, '--no-require-authentication');
    t.match(await textOf(letter('shop@shop.example')), /^250 /);
  });
});
