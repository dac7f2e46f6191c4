import fc from 'fast-check';
import t from 'tap';
import { type EntryPart, splitEntries } from '../../../../src/mail/read/mbox.js';
import { mboxEntry } from '../../../../src/mail/write/mbox.js';

const SENDER = { sender: 'ada@example.org', receivedAt: Date.UTC(2026, 10, 9, 3, 4, 5) };

async function gather(bytes: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of bytes) parts.push(part);
  return Buffer.concat(parts);
}

async function* inPieces(bytes: Buffer, length: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

/** The messages of a file that comes in pieces of this length. */
async function messagesIn(
  bytes: Buffer | string,
  length = 7,
): Promise<{ separator: string | null; raw: string }[]> {
  const messages: { separator: string | null; raw: string }[] = [];
  for await (const part of splitEntries(inPieces(Buffer.from(bytes), length)) as AsyncIterable<EntryPart>) {
    if (part.kind === 'begin') messages.push({ separator: part.separator, raw: '' });
    else if (part.kind === 'bytes') messages.at(-1)!.raw += part.bytes.toString('latin1');
  }
  return messages;
}

t.test('what was written is read back, whatever the lines say and however the bytes come', async () => {
  const line = fc.oneof(
    fc.constantFrom(
      '',
      'From me to you in 2026',
      '>From here',
      '>>From there 1999',
      'From ',
      '>',
      'text',
      ' From 2020',
    ),
    fc.string({ maxLength: 200 }).map(text => text.replace(/[\r\n]/g, ' ')),
  );
  const message = fc.array(line, { maxLength: 12 }).map(lines => ['Subject: x', ...lines, ''].join('\r\n'));
  const property = fc.asyncProperty(
    fc.array(message, { minLength: 1, maxLength: 5 }),
    fc.integer({ min: 1, max: 90 }),
    async (messages, length) => {
      const raws = messages.map(text => Buffer.from(text, 'utf8'));
      const entries = await Promise.all(raws.map(raw => gather(mboxEntry(SENDER, inPieces(raw, length)))));
      const read = await messagesIn(Buffer.concat(entries), length);
      return read.length === raws.length && read.every(({ raw }, at) => raw === raws[at]?.toString('latin1'));
    },
  );
  await fc.assert(property, { numRuns: 300 });
});

t.test('an entry is as RFC 4155 has it', async t => {
  const raw = Buffer.from('Subject: x\r\n\r\nFrom here\r\n>From there\r\n');
  t.equal(
    (await gather(mboxEntry(SENDER, [raw]))).toString(),
    'From ada@example.org Mon Nov  9 03:04:05 2026\nSubject: x\n\n>From here\n>>From there\n\n',
  );
  const none = await gather(mboxEntry({ ...SENDER, sender: '' }, [raw]));
  t.match(none.toString(), /^From MAILER-DAEMON Mon /);
});

t.test('a file without a separator is one message', async t => {
  t.same(await messagesIn('Subject: x\n\nFrom me in 2026\n>From\n\nend'), [
    { separator: null, raw: 'Subject: x\r\n\r\nFrom me in 2026\r\n>From\r\n\r\nend\r\n' },
  ]);
  t.same(await messagesIn(''), []);
});

t.test('a separator stands behind an empty line and has a year', async t => {
  const file =
    'From a@b Mon Nov  9 03:04:05 2026\nA: 1\n\ntext\nFrom a@b in 2026\n\nFrom now on\n\nFrom - 2025\nB: 2\n';
  t.same(
    (await messagesIn(file)).map(({ raw }) => raw),
    ['A: 1\r\n\r\ntext\r\nFrom a@b in 2026\r\n\r\nFrom now on\r\n', 'B: 2\r\n'],
  );
});

t.test('a line of megabytes comes in pieces', async t => {
  const long = 'x'.repeat(3_000_000);
  const [message] = await messagesIn(`A: 1\n\n${long}\n`, 65_536);
  t.equal(message?.raw, `A: 1\r\n\r\n${long}\r\n`);
});
