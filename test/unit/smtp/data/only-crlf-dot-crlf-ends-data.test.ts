import fc from 'fast-check';
import t from 'tap';
import { DataScanner } from '../../../../src/smtp/data-scanner.js';
import { stuff } from '../../../support/smtp/smtp-client.js';

interface Outcome {
  status: 'more' | 'end' | 'fault';
  content: string;
  rest: string;
}

/** Feeds the pieces one after the other, as copies, because the scanner overwrites them. */
function scan(pieces: readonly string[]): Outcome {
  const scanner = new DataScanner();
  let content = '';
  for (const [at, piece] of pieces.entries()) {
    const step = scanner.feed(Buffer.from(piece, 'latin1'));
    if (step.status === 'fault') return { status: 'fault', content: '', rest: '' };
    content += step.content.toString('latin1');
    if (step.status === 'end') {
      return { status: 'end', content, rest: step.rest.toString('latin1') + pieces.slice(at + 1).join('') };
    }
  }
  return { status: 'more', content, rest: '' };
}

/** RFC 5321 sections 2.3.8, 4.1.1.4 and 4.5.2, implemented in the simplest way. */
function model(text: string): Outcome {
  const ended = /^(?:\.\r\n|[\s\S]*?\r\n\.\r\n)/.exec(text)?.[0];
  const body = ended === undefined ? text : ended.slice(0, -3);
  const isCutInCrLf = ended === undefined && body.endsWith('\r');
  const whole = isCutInCrLf ? `${body}\n` : body;
  if (/\0|\r(?!\n)|(?<!\r)\n/.test(whole)) return { status: 'fault', content: '', rest: '' };
  const lines = whole.split('\r\n').map(line => (line.startsWith('.') ? line.slice(1) : line));
  let content = lines.join('\r\n');
  if (isCutInCrLf) content = content.slice(0, -1);
  if (ended !== undefined) return { status: 'end', content, rest: text.slice(ended.length) };
  // A CR right after a line's first dot belongs to the end of DATA or to a fault, never to the content.
  if (/(?:^|\r\n)\.\r$/.test(text)) content = content.slice(0, -1);
  return { status: 'more', content, rest: '' };
}

/** A fault is found only with the piece that contains it; the pieces before may have ended DATA already. */
const alphabet = fc.constantFrom(
  '\r\n',
  '\r\n',
  '\r\n.',
  '.',
  '..',
  '\r\n.\r\n',
  'a',
  'bc',
  '\r',
  '\n',
  '\0',
  'x'.repeat(40),
);
const hostile = fc.array(alphabet, { maxLength: 14 }).map(parts => parts.join(''));
const dense = fc
  .array(fc.constantFrom('\r', '\n', '.', '\0', 'a'), { maxLength: 9 })
  .map(parts => parts.join(''));

t.test('whatever is sent, cut anywhere in two, means what the standard says', async t => {
  fc.assert(
    fc.property(fc.oneof(hostile, dense), text => {
      const wanted = JSON.stringify(model(text));
      for (let at = 0; at <= text.length; at++) {
        const got = JSON.stringify(scan([text.slice(0, at), text.slice(at)]));
        if (got !== wanted) throw new Error(`cut at ${at}: got ${got}, wanted ${wanted}`);
      }
    }),
    { numRuns: 3000 },
  );
  t.pass();
});

t.test('the same byte by byte', async t => {
  fc.assert(
    fc.property(fc.oneof(hostile, dense), text => {
      t.same(scan([...text]), model(text));
    }),
    { numRuns: 300 },
  );
});

t.test('a message comes out as it went in, in pieces of any size', async t => {
  const line = fc.constantFrom(
    '',
    '.',
    '..',
    '...',
    'a',
    '.a',
    'short',
    'y'.repeat(11),
    'z'.repeat(200),
    '.\u00ff',
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 60 }), fc.integer({ min: 1, max: 90 }), (lines, size) => {
      const raw = lines.map(text => `${text}\r\n`).join('');
      const wire = `${stuff(Buffer.from(raw, 'latin1')).toString('latin1')}QUIT\r\n`;
      const pieces = wire.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? [];
      t.same(scan(pieces), { status: 'end', content: raw, rest: 'QUIT\r\n' });
    }),
    { numRuns: 500 },
  );
});

t.test('none of the known ways to smuggle an end is one', async t => {
  for (const end of [
    '\n.\n',
    '\n.\r\n',
    '\r\n.\n',
    '\r.\r',
    '\r\n.\r',
    '\r.\r\n',
    '\r\r\n.\r\r\n',
    '\r\n\0.\r\n',
    '\r\n.\0\r\n',
  ]) {
    t.equal(scan([`one${end}MAIL FROM:<a@b.example>\r\n.\r\n`]).status, 'fault', JSON.stringify(end));
  }
});

t.test('each fault has its name', async t => {
  const fault = (text: string) => new DataScanner().feed(Buffer.from(text));
  t.same(fault('a\rb\r\n'), { status: 'fault', fault: 'bare_cr' });
  t.same(fault('a\nb\r\n'), { status: 'fault', fault: 'bare_lf' });
  t.same(fault('a\0b\r\n'), { status: 'fault', fault: 'nul' });
  t.same(fault('.\rb\r\n'), { status: 'fault', fault: 'bare_cr' });
});

t.test('what follows the end is none of its business', async t => {
  t.same(scan(['a\r\n.\r\nNOOP\0\rx\n']), { status: 'end', content: 'a\r\n', rest: 'NOOP\0\rx\n' });
});

t.test('the content is a view of the chunk, not a copy', async t => {
  const chunk = Buffer.from('..a\r\nb\r\n.\r\nQUIT\r\n');
  const step = new DataScanner().feed(chunk);
  t.equal(step.status, 'end');
  if (step.status !== 'end') return;
  t.equal(step.content.buffer, chunk.buffer);
  t.equal(step.content.toString(), '.a\r\nb\r\n');
});
