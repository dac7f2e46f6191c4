import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { MOVABLE_CLOCK, moveClock } from '../../support/box/moved-clock.js';
import { acceptedId } from '../../support/letters/letters.js';
import { firstReceived, send as sendMail } from '../../support/sending/sending.js';
import { authorBox, letter } from './author-box.js';

const { box, agent, send, signed, sealed, dns } = await authorBox(t, MOVABLE_CLOCK);

/** Takes the message in, and waits until it is ready. */
async function receive(message: string, from?: string): Promise<string> {
  const id = acceptedId(await send(message, from === undefined ? {} : { from }));
  await agent.api.finished(id);
  return id;
}

async function authenticationOf(id: string) {
  const got = await agent.api.get(`/v1/messages/${id}?include=authentication`);
  t.equal(got.status, 200);
  return got.json<{ authentication: { verdict: string } }>().authentication;
}

const bytes = await signed(letter('ceo@bank.example'));
const proven = await receive(bytes);
const disowned = await receive(letter('ceo@bank.example', 'Message-ID: <disowned@bank.example>\r\n'));
const plain = await receive(letter('a@plain.example'), 'a@plain.example');
const twoAuthors = await receive(letter('a@partner.example, b@partner.example'), 'a@partner.example');
const dark = await receive(letter('bob@dark.example'), 'bob@dark.example');
const forwarded = await receive(await sealed(letter('ceo@bank.example'), 'pass'));

t.test('a message tells who has written it, where that is asked for', async t => {
  t.match(await authenticationOf(proven), {
    verdict: 'pass',
    local: false,
    from_domain: 'bank.example',
    spf: { result: 'none', domain: 'client.example', aligned: false },
    dkim: [{ domain: 'bank.example', algorithm: 'rsa-sha256', result: 'pass', aligned: true }],
    dmarc: { result: 'pass', policy: 'reject', aligned_by: ['dkim'] },
    arc: { result: 'none', sealer: null, trusted: false },
  });
  t.match(await authenticationOf(disowned), {
    verdict: 'fail',
    dkim: [],
    dmarc: { result: 'fail', policy: 'reject', aligned_by: [] },
  });
  t.match(await authenticationOf(plain), {
    verdict: 'none',
    from_domain: 'plain.example',
    spf: { result: 'pass', domain: 'plain.example', aligned: true },
    dmarc: { result: 'none', policy: null },
  });
  t.match(await authenticationOf(twoAuthors), { verdict: 'fail', from_domain: null });
  t.match(await authenticationOf(dark), { verdict: 'unknown', dmarc: { result: 'temperror' } });
  t.match(await authenticationOf(forwarded), {
    verdict: 'fail',
    arc: { result: 'pass', sealer: 'lists.example', trusted: false, dmarc: 'pass' },
  });
  t.notOk('authentication' in (await agent.api.detail(proven)), 'only where that is asked for');
  t.equal((await agent.api.raw(proven)).toString(), bytes, 'raw bytes stay raw');
});

t.test('lists and counts take the verdict as a condition', async t => {
  const listed = async (verdict: string) =>
    (await agent.api.page(agent.inboxId, `?authentication=${verdict}`)).messages.map(({ id }) => id).sort();
  t.same(await listed('pass'), [proven]);
  t.same(await listed('fail'), [disowned, twoAuthors, forwarded].sort());
  t.same(await listed('none'), [plain]);
  t.same(await listed('unknown'), [dark]);
  const path = `/v1/inboxes/${agent.inboxId}/messages`;
  t.same((await agent.api.get(`${path}/count?authentication=fail&from=ceo@bank.example`)).json(), {
    count: 2,
  });
  t.equal((await agent.api.get(`${path}?authentication=perhaps`)).code, 'invalid_search');
  t.equal((await agent.api.get(`/v1/messages/${proven}?include=verdict`)).code, 'invalid_search');
});

t.test('the command line says it and why', async t => {
  const shown = async (id: string): Promise<string> =>
    (await box.cli('message', 'show', id)).stdout.match(/^authentication +(.*)$/m)?.[1] ?? '';
  t.match(await shown(proven), /^pass: .*signed by bank\.example/);
  t.match(await shown(disowned), /^fail: .*bank\.example/);
  t.match(await shown(dark), /^unknown: .*DNS/);
  const { stdout } = await box.cli('message', 'list', agent.address, '--authentication', 'none');
  t.match(stdout, plain);
  t.notMatch(stdout, proven);
});

t.test('a reply tells of the message that it answers', async t => {
  const reply = (id: string, query = '') =>
    agent.api.post(`/v1/inboxes/${agent.inboxId}/reply${query}`, {
      message_id: id,
      text: 'Really?',
    });
  const told = await reply(disowned, '?include=authentication');
  t.equal(told.status, 201, told.bytes.toString());
  t.match(told.json(), { message: { status: /./ }, authentication: { verdict: 'fail', local: false } });
  t.notOk('authentication' in (await reply(disowned)).json<object>());
  t.equal((await reply(disowned, '?include=proof')).code, 'invalid_message', 'and nothing is sent');
});

t.test('mail between inboxes of this box passes by its own right', async t => {
  const bob = await createAgent(box, 'bob');
  await sendMail(agent, { to: [{ address: bob.address }], subject: 'Here', text: 'Hello' });
  const got = await bob.api.get(`/v1/messages/${await firstReceived(bob)}?include=authentication`);
  t.match(got.json(), {
    authentication: { verdict: 'pass', local: true, from_domain: 'example.org', dkim: [] },
  });
});

t.test('what the DNS did not say is asked again, after 5, 30 and 120 minutes', async t => {
  /** At a start the store is looked through at once. */
  const later = async (minutes: number): Promise<void> => {
    await box.stop();
    moveClock(box, minutes * 60_000);
    await box.start();
  };
  const asked = () => dns.asked.filter(({ name }) => name === '_dmarc.dark.example').length;
  const before = asked();
  await later(3);
  t.equal(asked(), before, 'not before its time');
  await later(6);
  while (asked() === before) await new Promise(resolve => setTimeout(resolve, 50));
  t.match(await authenticationOf(dark), { verdict: 'unknown' });
  dns.set('dark.example', { TXT: ['v=spf1 ip4:127.0.0.1 -all'] });
  dns.set('_dmarc.dark.example', { TXT: ['v=DMARC1; p=reject'] });
  await later(38);
  while ((await authenticationOf(dark)).verdict === 'unknown') {
    await new Promise(resolve => setTimeout(resolve, 50));
  }
  t.match(await authenticationOf(dark), { verdict: 'pass', spf: { result: 'pass', aligned: true } });
  t.same(
    (await agent.api.page(agent.inboxId, '?authentication=pass')).messages.map(({ id }) => id).sort(),
    [proven, dark].sort(),
  );
  t.match(await authenticationOf(proven), { verdict: 'pass' });
});
