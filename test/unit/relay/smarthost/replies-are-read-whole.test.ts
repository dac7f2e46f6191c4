import fc from 'fast-check';
import t from 'tap';
import { describeReply, parseReply, ReplyReader } from '../../../../src/relay/session/reply.js';

/** What a reader makes of these pieces: `code enhanced text`, or the text that it refuses as malformed. */
function read(...pieces: readonly string[]): string[] {
  const reader = new ReplyReader();
  return pieces
    .flatMap(piece => reader.feed(Buffer.from(piece, 'utf8')))
    .map(one => (one.status === 'reply' ? describeReply(one.reply) : `malformed: ${one.words}`));
}

t.test('one line, several lines, several replies', async t => {
  t.same(read('250 OK\r\n'), ['250 OK']);
  t.same(read('250\r\n'), ['250']);
  t.same(read('250-first\r\n250-second\r\n250 third\r\n'), ['250 first second third']);
  t.same(read('250 2.1.0 OK\r\n354 Go on\r\n'), ['250 2.1.0 OK', '354 Go on']);
  t.same(read('250 OK\n'), ['250 OK'], 'a bare LF ends a line too');
});

t.test('the enhanced code is told apart when it is of the class of the code', async t => {
  t.same(parseReply(['550-5.1.1 No such', '550 5.1.1 user']), {
    code: 550,
    enhanced: '5.1.1',
    text: 'No such user',
  });
  t.equal(parseReply(['550 4.1.1 No such user'])?.enhanced, null);
  t.equal(parseReply(['550 5.1.1234 odd'])?.enhanced, null);
  t.equal(parseReply(['550 5.7.1'])?.enhanced, '5.7.1');
  t.equal(parseReply(['354 3.0.0 no such class'])?.enhanced, null);
});

t.test('a reply is one however it is cut', async t => {
  const whole = '250-2.1.5 Zoë, first\r\n250 2.1.5 second\r\n421 4.3.2 bye\r\n';
  const wanted = read(whole);
  t.equal(wanted.length, 2);
  const bytes = Buffer.from(whole);
  fc.assert(
    fc.property(fc.array(fc.nat(bytes.length)), cuts => {
      const reader = new ReplyReader();
      const edges = [0, ...cuts.sort((a, b) => a - b), bytes.length];
      const got = edges
        .slice(1)
        .flatMap((end, at) => reader.feed(bytes.subarray(edges[at], end)))
        .map(one => (one.status === 'reply' ? describeReply(one.reply) : 'malformed'));
      return JSON.stringify(got) === JSON.stringify(wanted);
    }),
  );
});

t.test('what is no reply is none, and nothing behind it is read', async t => {
  for (const line of [
    '',
    'hello',
    '25 OK',
    '2500 OK',
    '150 wait',
    '650 what',
    '250_OK',
    ' 250 OK',
    '\u0000250 OK',
    'HTTP/1.1 400 Bad Request',
  ]) {
    t.match(read(`${line}\r\n250 OK\r\n`), [/^malformed: /], JSON.stringify(line));
  }
  t.match(read('250-first\r\n550 second\r\n'), [/^malformed: 250-first 550 second$/], 'codes that differ');
});

t.test('a reply that never ends is none', async t => {
  t.match(read('x'.repeat(70_000)), [/^malformed/]);
  t.match(read(...Array.from({ length: 80 }, () => `250-${'x'.repeat(1000)}\r\n`)), [/^malformed/]);
  t.equal(read(...Array.from({ length: 80 }, () => `250 ${'x'.repeat(1000)}\r\n`)).length, 80);
});

t.test('words of a server are harmless to print, and short', async t => {
  t.same(read('550 a\u001b[31mb\u0007\u202ec\td\r\n'), ['550 a [31mb c d']);
  t.ok((read(`550 ${'x'.repeat(5000)}\r\n`)[0]?.length ?? 0) < 500);
  const reader = new ReplyReader();
  reader.feed(Buffer.from([0x35, 0x35, 0x30, 0x20, 0xff, 0x0d, 0x0a]));
  t.equal(reader.unfinished, '');
  reader.feed(Buffer.from('250-half\r\n25'));
  t.equal(reader.unfinished, '250-half 25');
});
