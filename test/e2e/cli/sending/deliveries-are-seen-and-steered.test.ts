import type { Test } from 'tap';
import t from 'tap';
import type { MessageId } from '../../../../src/domain/ids.js';
import { deliveriesOf } from '../../../../src/store/records/deliveries.js';
import type { DeliveryOutcome } from '../../../../src/usecases/ports.js';
import { deliver } from '../../../../src/usecases/sending/deliver.js';
import type { DescribedDelivery } from '../../../../src/usecases/sending/describe-deliveries.js';
import { sendMessage } from '../../../../src/usecases/sending/recipes.js';
import { ADMIN, locateInbox } from '../../../../src/usecases/shared/callers.js';
import { ACCEPTED, ScriptedRelay } from '../../../support/sending/scripted-relay.js';
import { SendingSide } from '../../../support/sending/sending-side.js';
import { silent } from '../../../unit/usecases/with-house.js';
import { type CliBox, cliBox, DOMAIN } from '../cli-box.js';
import { sendFrom } from './cli-sends.js';

const AGENT = `agent@${DOMAIN}`;

async function boxWithInbox(t: Test): Promise<CliBox> {
  const box = await cliBox(t);
  await box.json('account', 'create', 'ada@example.org');
  await box.json('inbox', 'create', '--account', 'ada@example.org', 'agent');
  return box;
}

/** What the mail server of a domain makes of a recipient. */
const OUTCOMES: Readonly<Record<string, Partial<DeliveryOutcome>>> = {
  'fine@one.example': { state: 'delivered', tls: 'TLSv1.3', reply: '250 2.0.0 queued as \u001b[2J' },
  'full@two.example': { state: 'later', code: '4.2.2', reply: '452 4.2.2 mailbox full' },
  'gone@three.example': { state: 'failed', code: '5.1.1', reply: '550 5.1.1 nobody' },
  'maybe@four.example': { state: 'unknown', code: '4.4.2', reply: 'the connection was lost' },
  'closed@five.example': { state: 'later', host: null, code: '4.4.1', reply: 'connection refused' },
};

/** Sends, and tries every recipient once that has an outcome, as the daemon does. Gives the id of the message. */
function sendDirect(box: CliBox, ...to: readonly string[]): Promise<MessageId> {
  return box.withStore(async store => {
    const inbox = store.read(reader => locateInbox(reader, ADMIN, AGENT));
    const side = new SendingSide({ store, relay: new ScriptedRelay(), clock: Date.now });
    Object.assign(side.send, { deliveries: { queue: { offer: () => {} }, signer: null } });
    const { message } = await sendMessage(side.send, {
      accountId: inbox.accountId,
      inboxId: inbox.id,
      hand: null,
      to: to.map(address => ({ address })),
      subject: 'Notes',
      text: 'Hello',
    });
    const id = message.id as MessageId;
    for (const delivery of store.read(reader => deliveriesOf(reader, id))) {
      if (!delivery.recipients.every(({ address }) => address in OUTCOMES)) continue;
      await deliver(
        {
          store,
          clock: Date.now,
          log: silent,
          maxAgeMs: 48 * 3_600_000,
          notify: async () => true,
          telling: new Set(),
          deliverer: {
            deliver: async ({ recipients, domain }) =>
              recipients.map(recipient => ({
                recipient,
                state: 'delivered',
                host: `mx.${domain}`,
                tls: null,
                code: '2.0.0',
                reply: '',
                ...OUTCOMES[recipient],
              })),
          },
        },
        delivery.id,
      );
    }
    return id;
  });
}

interface Shown {
  readonly deliveries: readonly DescribedDelivery[];
}

t.test('of each recipient it is shown how it stands, and what can be done', async t => {
  const box = await boxWithInbox(t);
  const id = await sendDirect(box, ...Object.keys(OUTCOMES), 'new@six.example');
  const shown = await box.json<Shown>('queue', 'show', id);
  t.match(shown, { message_id: id, inbox: AGENT, subject: 'Notes', sent_at: String });
  const byAddress = new Map(shown.deliveries.map(one => [one.recipient, one]));
  const cases: readonly (readonly [string, Partial<Record<keyof DescribedDelivery, unknown>>])[] = [
    ['fine@one.example', { state: 'delivered', attempts: 1, host: 'mx.one.example', tls: 'TLSv1.3' }],
    [
      'full@two.example',
      { state: 'queued', next_attempt_at: String, give_up_at: String, advice: /retry .* cancel / },
    ],
    [
      'gone@three.example',
      { state: 'failed', code: '5.1.1', advice: /suppression remove gone@three\.example --account / },
    ],
    ['maybe@four.example', { state: 'unknown', advice: /--even-if-delivered/ }],
    ['closed@five.example', { state: 'queued', host: null, advice: /dns check/ }],
    ['new@six.example', { state: 'queued', attempts: 0, code: null, advice: /first attempt/ }],
  ];
  for (const [address, expected] of cases) t.match(byAddress.get(address), expected, address);

  const { code, out } = await box.run('queue', 'show', id);
  t.equal(code, 0);
  t.match(out, /^subject +Notes$/m);
  t.match(out, /^recipient +fine@one\.example\nstate +delivered$/m);
  t.match(out, /^reply +452 4\.2\.2 mailbox full$/m);
  t.match(out, new RegExp(`^advice .*"postern queue retry ${id}" tries it now`, 'm'));
  t.notMatch(out, /\u001b/, 'no server steers the terminal');
});

t.test('a sent copy is shown with its deliveries', async t => {
  const box = await boxWithInbox(t);
  const id = await sendDirect(box, 'fine@one.example', 'gone@three.example');
  t.match(await box.json<object>('sent', 'show', id), {
    id,
    submission: { subject: 'Notes' },
    deliveries: [
      { recipient: 'fine@one.example', state: 'delivered' },
      { recipient: 'gone@three.example', state: 'failed', code: '5.1.1' },
    ],
  });
  const { out } = await box.run('sent', 'show', id);
  t.match(out, /^gone@three\.example +failed +1 .* mx\.three\.example +5\.1\.1$/m);
  t.match(out, `"postern queue show ${id}" tells more.`);
});

t.test('a sent copy that a relay took is shown with an entry for each recipient', async t => {
  const box = await boxWithInbox(t);
  const id = await sendFrom(box, AGENT, ACCEPTED);
  const entry = { recipient: 'ann@remote.example', state: 'delivered', attempts: 1, host: null };
  t.match((await box.json<Shown>('sent', 'show', id)).deliveries, [entry]);
  t.match((await box.run('sent', 'show', id)).out, /^ann@remote\.example +delivered +1 /m);
  t.match((await box.json<Shown>('queue', 'show', id)).deliveries, [{ ...entry, advice: /the smarthost/ }]);
  t.match((await box.run('queue', 'show', id)).out, /^recipient +ann@remote\.example\nstate +delivered$/m);
  t.match(await box.failure('queue', 'cancel', id), { code: 4, error: { message: /relay has taken/ } });
  t.match(await box.failure('queue', 'retry', id), { code: 1, error: { message: /never sent again/ } });
  const held = await sendFrom(box, AGENT, { reservedHoursAgo: 30 });
  t.match((await box.json<Shown>('queue', 'show', held)).deliveries, [{ state: 'queued', attempts: 0 }]);
});

t.test('what waits is listed, given up and tried at once', async t => {
  const box = await boxWithInbox(t);
  const first = await sendDirect(box, 'full@two.example', 'fine@one.example');
  const second = await sendDirect(box, 'new@six.example');
  t.match(await box.json<object>('queue', 'status'), { deliver: { waiting: 2 } });
  t.match((await box.run('status')).out, /^to_be_delivered +2: see "postern queue list"$/m);
  t.match(await box.json<object>('queue', 'list', '--limit', '1'), {
    deliveries: [{ message_id: second, domain: 'six.example' }],
    has_more: true,
  });
  t.match((await box.run('queue', 'list', '--limit', '1')).out, 'There are more: add --limit 1000');
  const { out } = await box.run('queue', 'list');
  t.match(
    out,
    new RegExp(`^${first} +full@two\\.example +queued +1 .* 4\\.2\\.2 452 4\\.2\\.2 mailbox full$`, 'm'),
  );
  t.notMatch(out, /There are more/);

  t.same(await box.json('queue', 'retry', first), { message_id: first, recipients: ['full@two.example'] });
  t.match(await box.json<object>('queue', 'status'), { deliver: { waiting: 2, oldest_age_s: Number } });
  t.same(await box.json('queue', 'cancel', first), { message_id: first, recipients: ['full@two.example'] });
  t.match((await box.json<Shown>('queue', 'show', first)).deliveries, [
    { state: 'cancelled', give_up_at: null },
    {},
  ]);
  t.match((await box.run('queue', 'cancel', first)).out, /nothing was cancelled\. "postern queue show"/);
  t.match(await box.failure('queue', 'retry', first), {
    code: 1,
    error: { message: /every recipient has an outcome/ },
  });
  t.equal((await box.run('verify')).code, 0);
});

t.test('what is unknown is sent again only where that is asked for', async t => {
  const box = await boxWithInbox(t);
  const id = await sendDirect(box, 'maybe@four.example', 'fine@one.example');
  t.match(await box.failure('queue', 'retry', id), { code: 1, error: { message: /--even-if-delivered/ } });
  t.match(await box.json('queue', 'retry', id, '--even-if-delivered'), {
    recipients: ['maybe@four.example'],
  });
  t.match(await box.failure('queue', 'retry', id, '--even-if-delivered'), { code: 1 });
  t.equal((await box.run('verify')).code, 0);
});

t.test('a message that is not there is exit code 4, and a wrong use 2, with what to do', async t => {
  const box = await boxWithInbox(t);
  const received = await box.deliver(AGENT, 'Subject: x\r\n\r\nx\r\n');
  for (const id of ['nonsense', '', '01900000-0000-7000-8000-000000000000', received]) {
    for (const words of [['show'], ['cancel'], ['retry'], ['retry', '--even-if-delivered']]) {
      t.match(await box.failure('queue', ...words, id), {
        code: 4,
        out: '',
        error: { code: 'not_found', message: /"postern queue list" shows what waits/ },
      });
    }
  }
  for (const words of [[], ['--even-if-delivered'], ['--all', received]]) {
    t.match(await box.failure('queue', 'retry', ...words), { code: 2, error: { message: /or --all/ } });
  }
  t.match(await box.failure('queue', 'retry', '--all', '--even-if-delivered'), {
    code: 2,
    error: { message: /give its id/ },
  });
  t.match(await box.failure('queue', 'list', '--limit', '0'), { code: 2 });
});
