import t from 'tap';
import { SmtpClient } from '../../../support/smtp/smtp-client.js';
import { withListener } from '../with-listener.js';

const BEHIND =
  'MAIL FROM:<mallory@b.example>\r\nRCPT TO:<agent@example.org>\r\nDATA\r\nSubject: smuggled\r\n\r\nx\r\n.\r\nQUIT\r\n';

/** Every way to write CR, LF, NUL and dots in up to five bytes. */
function* sequences(alphabet: string, longest: number): Generator<string> {
  let ends = [''];
  for (let length = 1; length <= longest; length++) {
    ends = ends.flatMap(end => [...alphabet].map(letter => end + letter));
    yield* ends;
  }
}

/** Those that are neither a correct end of DATA nor harmless lines. */
const hostile = [...sequences('\r\n.', 5), ...sequences('\r\n.\0', 3)].filter(end =>
  /\0|\r(?!\n)|(?<!\r)\n/.test(`x${end}M`),
);

/** Sends a message with `end` in it, followed by a whole transaction. Returns how it was answered. */
async function smuggle(port: number, end: string, cutAt: number): Promise<string> {
  const client = await SmtpClient.connect(port);
  await client.write(`EHLO c.example\r\nMAIL FROM:<a@b.example>\r\nRCPT TO:<agent@example.org>\r\nDATA\r\n`);
  for (const code of [220, 250, 250, 250, 354]) await client.expect(code);
  const bytes = Buffer.from(`Subject: x\r\n\r\nx${end}${BEHIND}`, 'latin1');
  const cut = 'Subject: x\r\n\r\nx'.length + cutAt;
  await client.write(bytes.subarray(0, cut));
  // In another segment: the first one has been read by then.
  if (cutAt > 0) await new Promise(resolve => setTimeout(resolve, 1));
  await client.write(bytes.subarray(cut));
  const codes: number[] = [];
  for (let reply = await client.reply(); reply !== null; reply = await client.reply()) codes.push(reply.code);
  return codes.join(' ');
}

t.test('every odd end of up to five bytes is 554 and closed, with nothing behind it', async t => {
  const { port, inbound, listener } = await withListener(t, { maxClientsPerAddress: 1000 });
  const queue = [...hostile];
  const wrong: string[] = [];
  const worker = async () => {
    for (let end = queue.pop(); end !== undefined; end = queue.pop()) {
      const codes = await smuggle(port, end, 0);
      if (codes !== '554') wrong.push(`${JSON.stringify(end)}: ${codes}`);
    }
  };
  await Promise.all(Array.from({ length: 20 }, worker));
  t.same(wrong, []);
  t.ok(hostile.length > 300, `${hostile.length} ends`);
  t.same(inbound.messages, []);
  t.equal(listener.stats().refusals.line_ending, hostile.length);
  for (const body of inbound.bodies) t.match(body, { commits: 0, aborts: 1 });
});

t.test('cut into segments at every point, too', async t => {
  const { port, inbound } = await withListener(t, { maxClientsPerAddress: 1000 });
  const cuts = [
    '\n.\n',
    '\n.\r\n',
    '\r\n.\n',
    '\r.\r',
    '\r\n.\r',
    '\r\r\n.\r\r\n',
    '\r\n\0.\r\n',
    '\r\n.\0\r\n',
    '\n\n.\n\n',
  ].flatMap(end => Array.from({ length: end.length + 1 }, (_, cutAt) => ({ end, cutAt })));
  const wrong: string[] = [];
  await Promise.all(
    cuts.map(async ({ end, cutAt }) => {
      const codes = await smuggle(port, end, cutAt);
      if (codes !== '554') wrong.push(`${JSON.stringify(end)} cut at ${cutAt}: ${codes}`);
    }),
  );
  t.same(wrong, []);
  t.same(inbound.messages, []);
});

t.test('the one true end may be cut anywhere, and what follows it is the next command', async t => {
  const { port, inbound } = await withListener(t, { maxClientsPerAddress: 1000 });
  for (let cutAt = 0; cutAt <= 5; cutAt++) {
    t.equal(await smuggle(port, '\r\n.\r\n', cutAt), '250 250 250 354 250 221');
  }
  t.equal(inbound.messages.length, 12);
});
