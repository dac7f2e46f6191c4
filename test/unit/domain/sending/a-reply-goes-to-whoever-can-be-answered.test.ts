import fc from 'fast-check';
import t from 'tap';
import type { ParsedAddress, ReceivedContent } from '../../../../src/contract/messages.js';
import { isEmailAddress } from '../../../../src/domain/addresses.js';
import { resultOf } from '../../../../src/domain/errors.js';
import type { Mailbox } from '../../../../src/domain/message-parts.js';
import {
  type DerivedReply,
  deriveReply,
  type ReplyScope,
  type ReplySource,
} from '../../../../src/domain/reply.js';

const INBOX = 'agent@example.org';
type Header = Pick<ReceivedContent, 'from' | 'reply_to' | 'to' | 'cc' | 'subject'>;

const plain = (address: string, name = '') => ({ address, name });
const ann = plain('ann@a.example', 'Ann');
const bob = plain('bob@b.example');
const cy = plain('cy@c.example');
const agent = plain(INBOX, 'Agent');

function received(header: Partial<Header>): ReplySource {
  return {
    kind: 'received',
    content: { from: ann, reply_to: [], to: [agent], cc: [], subject: 'Hi', ...header },
  };
}

function sent(to: readonly Mailbox[], cc: readonly Mailbox[] = []): ReplySource {
  return { kind: 'sent', submission: { to, cc, subject: 'Hi' } };
}

function reply(scope: ReplyScope, source: ReplySource): DerivedReply | string {
  const result = resultOf(() => deriveReply(scope, source, INBOX));
  return result.ok ? result.value : result.failure.code;
}

const toAnn = { to: [{ address: 'ann@a.example', name: 'Ann' }], cc: [], subject: 'Re: Hi' };
const bare = ({ address }: Mailbox): Mailbox => ({ address });

t.test('a reply goes to Reply-To where it names anyone, else to From', async t => {
  t.strictSame(reply('reply', received({})), toAnn);
  t.strictSame(reply('reply', received({ to: [agent, bob], cc: [cy] })), toAnn);
  t.match(reply('reply', received({ reply_to: [bob, cy] })), { to: [bare(bob), bare(cy)], cc: [] });
  t.strictSame(reply('reply', received({ reply_to: [plain('', 'nobody')] })), toAnn);
  t.strictSame(reply('reply', received({ reply_to: [{ name: 'none', group: [] }] })), toAnn);
});

t.test('a reply to what one sent goes to its recipients again', async t => {
  t.match(reply('reply', sent([bob], [cy])), { to: [bare(bob)], cc: [] });
  t.match(reply('reply-all', sent([bob], [cy])), { to: [bare(bob)], cc: [bare(cy)] });
});

t.test('a reply to all keeps To in To and Cc in Cc', async t => {
  t.match(reply('reply-all', received({ to: [agent, bob], cc: [cy] })), {
    to: [{ address: 'ann@a.example', name: 'Ann' }, bare(bob)],
    cc: [bare(cy)],
  });
});

t.test('groups are their members, and each address counts once whatever its letter case', async t => {
  const source = received({
    to: [{ name: 'Team', group: [bob, agent, plain('ANN@A.example', 'Again')] }],
    cc: [plain('Bob@b.example'), cy, { name: 'Team', group: [cy] }],
  });
  t.strictSame(reply('reply-all', source), {
    to: [{ address: 'ann@a.example', name: 'Ann' }, { address: 'bob@b.example' }],
    cc: [{ address: 'cy@c.example' }],
    subject: 'Re: Hi',
  });
});

t.test(
  'the inbox never answers itself, and the first copied one is addressed where nobody else is',
  async t => {
    t.equal(reply('reply', received({ from: agent })), 'reply_recipients_unavailable');
    t.equal(
      reply(
        'reply-all',
        received({ from: plain('Agent@EXAMPLE.org'), to: [plain('agent+tag@example.org')] }),
      ),
      'reply_recipients_unavailable',
    );
    t.match(reply('reply-all', received({ from: null, cc: [agent, bob, cy] })), {
      to: [bare(bob)],
      cc: [bare(cy)],
    });
    t.equal(reply('reply', received({ from: null })), 'reply_recipients_unavailable');
  },
);

t.test('an answer that would leave somebody out is refused, and says whom', async t => {
  const refused = (scope: ReplyScope, source: ReplySource, given = {}) => {
    const result = resultOf(() => deriveReply(scope, source, INBOX, given));
    return result.ok ? result.value : `${result.failure.code}: ${result.failure.message}`;
  };
  for (const address of [
    '"a b"@a.example',
    'a@[192.0.2.1]',
    'a@b@c',
    'jörg@a.example',
    `${'l'.repeat(65)}@b`,
  ]) {
    const said = `reply_recipients_unavailable: Mail cannot be sent from here to ${address}, which the answer would go to; send a new message with in_reply_to to the recipients you choose.`;
    t.equal(refused('reply', received({ from: plain(address) })), said);
    t.equal(refused('reply-all', received({ from: plain(address), cc: [bob] })), said);
    t.equal(refused('reply-all', received({ cc: [bob, plain(address)] })), said);
    t.equal(refused('reply-all', received({ to: [{ name: 'Team', group: [plain(address)] }] })), said);
    t.match(refused('reply', received({ cc: [plain(address)] })), { to: [{ address: 'ann@a.example' }] });
    t.match(refused('reply-all', received({ cc: [plain(address)] }), { cc: [bob] }), { cc: [bob] });
    t.match(refused('reply-all', received({ to: [plain(address)] }), { to: [bob] }), { to: [bob] });
  }
  const many = Array.from({ length: 7 }, (_, n) => plain(`"a ${n}"@a.example`));
  t.match(refused('reply-all', received({ cc: many })), / "a 4"@a\.example and 2 more, which/);
  t.match(
    refused('reply', received({ from: plain(`"a\r\nb${'x'.repeat(5000)}"@a.example`) })),
    /^reply_recipients_unavailable: Mail cannot be sent from here to "a b?x{50,95}\.\.\., which/,
  );
});

t.test('domains in U-labels become A-labels, and unusual local parts stay', async t => {
  t.match(
    reply(
      'reply-all',
      received({
        from: plain('zoe@bücher.example', 'Zoë'),
        to: [
          plain('ZOE@xn--bcher-kva.example'),
          plain('a..b@docomo.example'),
          plain('"abc."@docomo.example'),
        ],
        cc: [plain('x@a_b.example'), plain('ivan@почта.рф')],
      }),
    ),
    {
      to: [
        { address: 'zoe@xn--bcher-kva.example', name: 'Zoë' },
        { address: 'a..b@docomo.example' },
        { address: 'abc.@docomo.example' },
      ],
      cc: [{ address: 'x@a_b.example' }, { address: 'ivan@xn--80a1acny.xn--p1ai' }],
    },
  );
});

t.test('an entry without an address is no recipient', async t => {
  const hidden = [
    plain('undisclosed-recipients'),
    { name: 'undisclosed-recipients', group: [] },
    plain('', 'x'),
  ];
  t.strictSame(reply('reply-all', received({ to: hidden, cc: hidden })), toAnn);
});

t.test('names are cleaned, and dropped where nobody may write them', async t => {
  const named = (name: string) => {
    const found = reply('reply', received({ from: plain('ann@a.example', name) }));
    return typeof found === 'string' ? found : found.to[0]?.name;
  };
  t.equal(named(' Ann\r\nBcc: x\u0000 '), 'Ann Bcc: x');
  t.equal(named('é'.repeat(128)), 'é'.repeat(128));
  t.equal(named('é'.repeat(129)), undefined);
  t.equal(named(' \t'), undefined);
  t.equal(named('\ud83d'), '\ufffd');
});

t.test('more than 50 recipients are refused', async t => {
  const many = (count: number) => Array.from({ length: count }, (_, n) => plain(`r${n}@a.example`));
  t.match(reply('reply-all', received({ to: many(20), cc: many(49) })), {
    to: { length: 21 },
    cc: { length: 29 },
  });
  const refused = resultOf(() => deriveReply('reply-all', received({ cc: many(50) }), INBOX));
  t.match(refused, {
    ok: false,
    failure: { code: 'invalid_message', message: /51 recipients, and 50 is the most/ },
  });
});

t.test(
  'lists that are given take the place of those that are derived, and count instead of them',
  async t => {
    const many = (count: number) => Array.from({ length: count }, (_, n) => plain(`r${n}@a.example`));
    const given = (source: ReplySource, lists: Parameters<typeof deriveReply>[3]) => {
      const result = resultOf(() => deriveReply('reply-all', source, INBOX, lists));
      return result.ok ? result.value : result.failure.code;
    };
    const source = received({ cc: [cy] });
    t.match(given(source, { to: [bob] }), { to: [bob], cc: [bare(cy)], subject: 'Re: Hi' });
    t.match(given(source, { cc: [] }), { to: [{ address: 'ann@a.example' }], cc: [] });
    t.match(given(source, { to: [], cc: [] }), { to: [], cc: [], subject: 'Re: Hi' });
    t.equal(given(received({ from: agent }), { bcc: [bob] }), 'reply_recipients_unavailable');
    t.match(given(received({ from: agent }), { to: [] }), { to: [], cc: [], subject: 'Re: Hi' });
    t.equal(given(received({ cc: many(49) }), { bcc: [bob] }), 'invalid_message');
    t.match(given(received({ cc: many(60) }), { cc: [bob] }), { to: { length: 1 }, cc: [bob] });
    t.equal(given(received({ cc: many(49) }), { to: [bob, cy] }), 'invalid_message');
  },
);

const address = fc.constantFrom(
  'a@x.example',
  'A@x.example',
  'b@x.example',
  'c@x.example',
  'd@X.example',
  INBOX,
  'Agent@example.org',
  'agent+t@example.org',
  'other@example.org',
  'not an address',
  '',
);
const mailbox = fc.record({ address, name: fc.constantFrom('', 'Name', 'N\u0000') });
const parsed: fc.Arbitrary<ParsedAddress> = fc.oneof(
  { weight: 4, arbitrary: mailbox },
  { weight: 1, arbitrary: fc.record({ name: fc.constant('G'), group: fc.array(mailbox, { maxLength: 3 }) }) },
);
const list = fc.array(parsed, { maxLength: 5 });
const header: fc.Arbitrary<Header> = fc.record({
  from: fc.option(parsed),
  reply_to: list,
  to: list,
  cc: list,
  subject: fc.constant('Hi'),
});

/** The rules for recipients, applied one after the other to addresses without names. */
function model(scope: ReplyScope, { from, reply_to, to, cc }: Header): { to: string[]; cc: string[] } {
  const flat = (entries: readonly ParsedAddress[]) =>
    entries.flatMap(entry => ('group' in entry ? entry.group : [entry])).map(entry => entry.address);
  const asked = flat(reply_to).filter(one => one.includes('@'));
  const first = asked.length > 0 ? asked : flat(from === null ? [] : [from]);
  const candidates = scope === 'reply' ? first : [...first, ...flat(to)];
  const isAnswerable = (one: string) => isEmailAddress(one) && !/^agent(\+t)?@example\.org$/i.test(one);
  const once = (addresses: readonly string[], seen: readonly string[]) =>
    addresses.filter(
      (one, at) =>
        isAnswerable(one) &&
        ![...seen, ...addresses.slice(0, at)].some(other => other.toLowerCase() === one.toLowerCase()),
    );
  const answered = once(candidates, []);
  const copied = scope === 'reply' ? [] : once(flat(cc), answered);
  return answered.length > 0 ? { to: answered, cc: copied } : { to: copied.slice(0, 1), cc: copied.slice(1) };
}

t.test('for any header the recipients are those of the rules', async t => {
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(fc.constantFrom<ReplyScope[]>('reply', 'reply-all'), header, (scope, content) => {
        const found = reply(scope, { kind: 'received', content });
        const expected = model(scope, content);
        if (typeof found === 'string') {
          return found === 'reply_recipients_unavailable' && expected.to.length === 0;
        }
        const addresses = (mailboxes: readonly Mailbox[]) => mailboxes.map(one => one.address).join(' ');
        return (
          addresses(found.to) === expected.to.join(' ') &&
          addresses(found.cc) === expected.cc.join(' ') &&
          [...found.to, ...found.cc].every(
            ({ name }) => name === undefined || name === 'Name' || name === 'N',
          )
        );
      }),
      { numRuns: 2000 },
    ),
  );
});
