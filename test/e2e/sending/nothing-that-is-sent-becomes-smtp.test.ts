import fc from 'fast-check';
import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { postSend, quota, type Receipt } from '../../support/sending/sending.js';
import { startSmarthostBox } from '../../support/smarthost/smarthost-box.js';

const RUNS = 400;
/** Stands in whatever must not become a line of its own; texts have another one. */
const INJECTED = 'X-Injected: yes';

interface Mailbox {
  readonly address: string;
  readonly name?: string;
}

interface Body {
  readonly to: readonly Mailbox[];
  readonly cc: readonly Mailbox[];
  readonly bcc: readonly Mailbox[];
  readonly subject: string;
  readonly text: string;
  readonly html?: string;
  readonly attachments: readonly { filename: string; type: string; content: string }[];
}

/** What has been used against mail software, among anything at all. */
const TRICKS = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  `\r\n${INJECTED}\r\n`,
  `\n${INJECTED}`,
  `\u2028${INJECTED}\u2029`,
  `=?utf-8?Q?=0D=0A${INJECTED.replace(' ', '_')}?=`,
  `=?utf-8?B?${Buffer.from(`\r\n${INJECTED}`).toString('base64')}?=`,
  '>\r\nRCPT TO:<evil@evil.example',
  '\r\n.\r\nMAIL FROM:<evil@evil.example>\r\n',
  '\r\nBcc: evil@evil.example',
  ', evil@evil.example',
  '; evil@evil.example',
  'evil@evil.example,',
  '<evil@evil.example>',
  '"',
  '\\',
  '@a.example,@b.example:',
  'group:',
  ';',
  '%',
  '!',
  '(comment)',
  '/',
  ' ',
  '\t',
  '＠',
  'é',
  '\u202e',
  '\ud800',
  '.',
  '..',
  '@',
];

const trick = fc.constantFrom(...TRICKS);
const noise = fc.oneof(
  fc.string({ unit: 'grapheme-ascii', maxLength: 8 }),
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.string({ unit: 'binary', maxLength: 8 }),
);
const hostile = fc
  .array(fc.oneof({ weight: 2, arbitrary: trick }, { weight: 1, arbitrary: noise }), {
    minLength: 1,
    maxLength: 4,
  })
  .map(parts => parts.join(''));

/** Addresses as they may be, at the edges of the grammar. */
const fair = fc
  .tuple(
    fc.stringMatching(/^[a-zA-Z0-9!#$%&'*+/=?^_`{|}~-]{1,12}(\.[a-zA-Z0-9%=?]{1,8})?$/),
    fc.stringMatching(/^([a-z0-9]|xn--[a-z0-9]{1,5}){1,6}(\.[a-zA-Z0-9]{1,8}){1,2}$/),
  )
  .map(([local, domain]) => `${local}@${domain}`);
/** Few, so that they come more than once and in several spellings. */
const repeated = fc.constantFrom(
  'ann@remote.example',
  'Ann@remote.example',
  'ann@REMOTE.example',
  'bob@remote.example',
  'bob%host@remote.example',
  'a!b@remote.example',
  "o'hara+tag@remote.example",
);
const foul = fc.oneof(
  fc.tuple(fair, hostile).map(([address, text]) => address + text),
  fc.tuple(hostile, fair).map(([text, address]) => text + address),
  fc.tuple(hostile, hostile).map(([local, domain]) => `${local}@${domain}`),
  fc
    .tuple(fair, hostile, fc.nat(20))
    .map(([address, text, at]) => address.slice(0, at) + text + address.slice(at)),
  fc.tuple(hostile, fair).map(([name, address]) => `${name} <${address}>`),
  hostile,
);

const plainName = hostile.map(text => text.replace(/\p{Cc}|\p{Cs}/gu, ''));
function mailboxes(address: fc.Arbitrary<string>, name: fc.Arbitrary<string>): fc.Arbitrary<Mailbox> {
  return fc
    .tuple(address, fc.option(name, { nil: undefined }))
    .map(([one, called]) => (called === undefined ? { address: one } : { address: one, name: called }));
}

const good = mailboxes(
  fc.oneof({ weight: 3, arbitrary: repeated }, { weight: 2, arbitrary: fair }),
  plainName,
);
const bad = mailboxes(foul, hostile);

const text = fc
  .array(fc.oneof(trick, noise), { maxLength: 6 })
  .map(parts => `x${parts.join('').toWellFormed().replaceAll(INJECTED, 'X-Body: yes')}`);
const file = fc.record({
  filename: hostile.map(name => `f${name.replace(/[\p{Cc}\p{Cs}/\\]/gu, '')}`),
  type: fc.constantFrom('text/plain', 'application/pdf', 'message/rfc822', 'a!#$&^_.+-/b'),
  content: fc.uint8Array({ maxLength: 60 }).map(bytes => Buffer.from(bytes).toString('base64')),
});

function bodies(recipient: fc.Arbitrary<Mailbox>, called: fc.Arbitrary<string>): fc.Arbitrary<Body> {
  const list = fc.array(recipient, { maxLength: 4 });
  return fc.record(
    {
      to: fc.array(recipient, { minLength: 1, maxLength: 4 }),
      cc: list,
      bcc: list,
      subject: called.map(words => `s${words}`),
      text,
      html: text,
      attachments: fc.array(file, { maxLength: 2 }),
    },
    { requiredKeys: ['to', 'cc', 'bcc', 'subject', 'text', 'attachments'] },
  );
}

/** Bodies whose fields are sound, with one bad recipient or a bad subject, and with any JSON for recipients. */
const body: fc.Arbitrary<object> = fc.oneof(
  { weight: 5, arbitrary: bodies(good, plainName) },
  {
    weight: 3,
    arbitrary: bodies(fc.oneof({ weight: 6, arbitrary: good }, { weight: 1, arbitrary: bad }), plainName),
  },
  { weight: 2, arbitrary: bodies(good, hostile) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(bodies(good, plainName), fc.jsonValue(), fc.constantFrom('to', 'cc', 'bcc'))
      .map(([sound, any, field]) => ({ ...sound, [field]: any })),
  },
);

/** A list that is null was left out. */
function withLists(body: Body): Body {
  return { ...body, cc: body.cc ?? [], bcc: body.bcc ?? [] };
}

/** Each address once, in the order of To, Cc and Bcc; the domain has no letter case. */
function forwardPaths({ to, cc, bcc }: Body): string[] {
  const seen = new Set<string>();
  return [...to, ...cc, ...bcc].flatMap(({ address }) => {
    const at = address.indexOf('@');
    const path = `${address.slice(0, at)}@${address.slice(at + 1).toLowerCase()}`;
    if (seen.has(path)) return [];
    seen.add(path);
    return [address];
  });
}

const FIELDS = new Set(
  'From To Cc Subject Date Message-ID MIME-Version Content-Type Content-Transfer-Encoding'.split(' '),
);

/** Field names and unfolded values of the header of a message (RFC 5322 section 2.2). */
function headerOf(content: string): [name: string, value: string][] {
  const end = content.indexOf('\r\n\r\n');
  const lines = content
    .slice(0, end)
    .replace(/\r\n(?=[ \t])/g, '')
    .split('\r\n');
  return lines.map(line => {
    const [, name = '', value = ''] = /^([!-9;-~]+): ?(.*)$/s.exec(line) ?? [];
    return [name, value];
  });
}

/** Encoded words read back (RFC 2047), however they are cut. */
function decoded(value: string): string {
  const joined = value.replace(/\?=\s+=\?/g, '?==?');
  return joined.replace(/=\?utf-8\?([qb])\?([^?]*)\?=/gi, (_word, encoding: string, words: string) =>
    encoding.toLowerCase() === 'b'
      ? Buffer.from(words, 'base64').toString()
      : Buffer.from(
          words
            .replaceAll('_', ' ')
            .replace(/=([0-9a-f]{2})/gi, (_pair, hex: string) =>
              String.fromCharCode(Number.parseInt(hex, 16)),
            ),
          'latin1',
        ).toString(),
  );
}

t.test('whatever stands in a request: refused, or exactly its recipients and no line more', async t => {
  const { box, smarthost } = await startSmarthostBox(t, { POSTERN_LIMITS_SENDS: '1000000' });
  const agent = await createAgent(box);
  const counts = { sent: 0, refused: 0 };
  let charged = 0;

  await fc.assert(
    fc.asyncProperty(body, fc.uuid(), async (given, secret) => {
      // What is hidden is known again wherever it comes up.
      const marked = withSecret(given, secret.replaceAll('-', ''));
      const seen = smarthost.submissions.length;
      const answer = await postSend(agent, marked);
      if (answer.status === 400) {
        counts.refused += 1;
        if (smarthost.submissions.length !== seen) throw new Error('refused and sent');
        return;
      }
      if (answer.status !== 201) throw new Error(`answered with ${answer.status}: ${answer.bytes}`);
      const receipt = answer.json<Receipt>();
      if (receipt.message.status !== 'accepted') throw new Error(`came to ${JSON.stringify(receipt)}`);
      counts.sent += 1;
      const sent = withLists(marked as Body);
      charged += sent.to.length + sent.cc.length + sent.bcc.length;
      if (smarthost.submissions.length !== seen + 1) throw new Error('not sent once');
      const { from, recipients, content } = smarthost.submissions[seen]!;
      if (from !== agent.address) throw new Error(`sent from ${from}`);
      const expected = forwardPaths(sent);
      if (JSON.stringify(recipients) !== JSON.stringify(expected)) {
        throw new Error(`went to ${JSON.stringify(recipients)} instead of ${JSON.stringify(expected)}`);
      }
      checkMessage(content.toString('latin1'), sent);
      await checkCopy(receipt.message.id, sent);
    }),
    { numRuns: RUNS },
  );

  t.comment(JSON.stringify(counts));
  t.ok(counts.sent > RUNS / 4 && counts.refused > RUNS / 10, 'both are many');
  t.equal((await quota(agent.api)).used, charged, 'every entry is charged, and nothing of what was refused');
  const commands = smarthost.sessions.flatMap(({ lines }) => lines);
  const strange = commands.filter(
    line => !/^(EHLO \S+|MAIL FROM:<[^<>\s]+>( SIZE=\d+)?|RCPT TO:<[^<>\s]+>|DATA|RSET|QUIT)$/.test(line),
  );
  t.same(strange, [], 'no command but ours');
  t.match(await box.cliJson('verify'), { sound: true }, 'the store is sound');

  /** Puts the mark into every Bcc that is an address or has a name. */
  function withSecret(given: object, mark: string): object {
    const { bcc } = given as { bcc: unknown };
    if (!Array.isArray(bcc)) return given;
    const hidden = bcc.map((one: unknown) => {
      if (typeof one !== 'object' || one === null || !('address' in one)) return one;
      const { address, name } = one as Mailbox;
      const local = `${mark}.${address}`;
      return name === undefined ? { address: local } : { address: local, name: `${name}${mark}` };
    });
    return { ...given, bcc: hidden };
  }

  function checkMessage(content: string, { to, cc, bcc }: Body): void {
    const header = headerOf(content);
    const names = header.map(([name]) => name);
    const foreign = names.filter(name => !FIELDS.has(name));
    if (foreign.length > 0) throw new Error(`has the fields ${foreign}`);
    if (new Set(names).size !== names.length) throw new Error(`has a field twice: ${names}`);
    if (/^x-injected/im.test(content)) throw new Error('has a line that was brought in');
    const shown = header.map(([, value]) => `${value}\n${decoded(value)}`).join('\n');
    const marks = bcc.map(({ address }) => address.slice(0, 32));
    if (marks.some(mark => content.includes(mark) || shown.includes(mark))) throw new Error('shows Bcc');
    const mentions = (field: string, list: readonly Mailbox[]) => {
      const value = header.find(([name]) => name === field)?.[1] ?? '';
      return list.every(({ address }) => value.includes(address));
    };
    if (!mentions('To', to) || !mentions('Cc', cc)) throw new Error('does not say whom it is for');
    if (cc.length === 0 && names.includes('Cc')) throw new Error('has an empty Cc');
  }

  async function checkCopy(id: string, sent: Body): Promise<void> {
    const { submission } = (await agent.api.get(`/v1/sent/${id}`)).json<{ submission: Body }>();
    for (const field of ['to', 'cc', 'bcc'] as const) {
      const given = sent[field].map(({ address, name = '' }) => `${address} ${name.trim()}`.trim());
      const kept = submission[field].map(({ address, name = '' }) => `${address} ${name}`.trim());
      if (JSON.stringify(given) !== JSON.stringify(kept))
        throw new Error(`keeps other recipients in ${field}`);
    }
    if (submission.subject !== sent.subject) throw new Error('keeps another subject');
    if (!submission.text.startsWith(sent.text.trimEnd())) throw new Error('keeps another text');
  }
});
