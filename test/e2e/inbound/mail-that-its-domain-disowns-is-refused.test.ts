import t from 'tap';
import { createInbox } from '../../support/box/agents.js';
import { testKey } from '../../support/dkim/signing.js';
import { acceptedId } from '../../support/letters/letters.js';
import { authorBox, letter } from './author-box.js';

const REFUSED = '550 5.7.1 Email rejected per DMARC policy for bank.example';
const FORGED = letter('ceo@bank.example');

t.test('by default everything is taken, with a DNS that says nothing too', async t => {
  const { send, dns } = await authorBox(t);
  t.match((await send(FORGED)).text, /^250 /);
  dns.set('_dmarc.bank.example', { fault: 'silent' });
  t.match((await send(FORGED)).text, /^250 /);
});

t.test('unauthenticated = reject', async t => {
  const house = await authorBox(t, {
    POSTERN_INBOUND_UNAUTHENTICATED: 'reject',
    POSTERN_INBOUND_TRUSTED_SEALERS: 'Lists.example',
    POSTERN_MAIL_POSTMASTER_INBOX: 'agent@example.org',
  });
  const { agent, send, signed, sealed, list, dns, facts } = house;
  const authenticationOf = async (id: string) => {
    await agent.api.finished(id);
    return (await facts()).messages.find(record => record.id === id)?.authentication;
  };

  await t.test('what fails under p=reject is refused at the dot, and nothing of it stays', async t => {
    t.equal((await send(FORGED)).text, REFUSED);
    t.equal((await send(letter('CEO <ceo@BANK.example>'), { from: '' })).text, REFUSED);
    const large = `${FORGED}${'Hello\r\n'.repeat(100_000)}`;
    t.equal((await send(large)).text, REFUSED);
    t.same((await facts()).messages, []);
  });

  await t.test('a From in which nobody can be named is no way around', async t => {
    const several = '550 5.7.1 Email rejected per DMARC policy for what is in From';
    for (const message of [
      letter('ceo@bank.example, bob@nothing.example'),
      letter('bob@nothing.example, ceo@bank.example'),
      letter('bob@nothing.example', 'From: ceo@bank.example\r\n'),
      letter(Array.from({ length: 11 }, (_, n) => `a@d${n}.nothing.example`).join(', ')),
      letter(`"${'x'.repeat(5_000)}" <ceo@bank.example>`.replace(/(x{70})/g, '$1\r\n ')),
      letter('ceo@bank.example', `X: ${'x'.repeat(300)}\r\n`.repeat(2_000)),
    ]) {
      t.equal((await send(message)).text, several);
    }
    t.same((await facts()).messages, []);
  });

  await t.test('the rest is taken, and its verdict kept as it was found out', async t => {
    const taken: Record<string, string> = {};
    const take = async (verdict: string, message: string, from?: string) => {
      taken[acceptedId(await send(message, from === undefined ? {} : { from }))] = verdict;
    };
    await take('pass', await signed(letter('ceo@bank.example')));
    await take('pass', letter('ann@partner.example'), 'ann@partner.example');
    // Fails, and its domain asks for no refusal.
    await take('fail', letter('shop@shop.example'));
    await take('none', letter('bob@nothing.example'));
    await take('unknown', letter('bob@dark.example'));
    await take('fail', letter('shop@shop.example, bob@nothing.example'));
    await take('fail', letter('Mailer Daemon'));
    const questions = dns.timesAsked('_dmarc.partner.example');
    for (const id of Object.keys(taken)) await agent.api.finished(id);
    t.equal(dns.timesAsked('_dmarc.partner.example'), questions, 'and is not found out again');
    const kept = (await facts()).messages.map(({ id, authentication, checked }) => {
      t.equal(checked, null, 'it is published');
      return [id, authentication?.verdict];
    });
    t.same(Object.fromEntries(kept), taken);
  });

  await t.test('what a trusted list has sealed is taken, with the verdict that it has', async t => {
    const id = acceptedId(await send(await sealed(FORGED, 'pass')));
    t.match(await authenticationOf(id), {
      verdict: 'fail',
      arc: { result: 'pass', sealer: 'lists.example', trusted: true, dmarc: 'pass' },
    });
    t.equal((await send(await sealed(FORGED, 'fail'))).text, REFUSED, 'it failed there too');
    t.equal(
      (await send((await sealed(FORGED, 'pass')).replace('Hello', 'Hollo'))).text,
      REFUSED,
      'changed since',
    );
    const stranger = testKey('rsa-sha256', 'stranger.example');
    dns.set(stranger.name, { TXT: [stranger.record] });
    t.equal((await send(await sealed(FORGED, 'pass', stranger))).text, REFUSED, 'by nobody who is trusted');
    dns.set(list.name, { fault: 'servfail' });
    t.match((await send(await sealed(FORGED, 'pass'))).text, /^250 /, 'its key cannot be looked up now');
  });

  await t.test('postmaster is told all the same; an inbox beside it gets no copy by that', async t => {
    const other = await createInbox(agent, 'other');
    const id = acceptedId(await send(FORGED, { to: ['postmaster@example.org', other.address] }));
    t.match(await agent.api.detail(id), { envelope_to: 'postmaster@example.org' });
    t.equal(await agent.api.count(other.id), 0);
    t.equal((await send(FORGED, { to: [other.address, agent.address] })).text, REFUSED);
  });

  await t.test('a DNS that gives no answer refuses nobody', async t => {
    dns.set('bank.example', { fault: 'servfail' });
    const text = (await send(FORGED, { from: 'ceo@bank.example' })).text;
    t.match(text, /^250 /, 'SPF might have passed');
    dns.set('_dmarc.bank.example', { fault: 'silent' });
    t.match((await send(FORGED)).text, /^250 /);
  });
});
