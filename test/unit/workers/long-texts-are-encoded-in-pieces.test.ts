import fc from 'fast-check';
import t from 'tap';
import { ParsePool } from '../../../src/workers/parse-pool.js';
import { encodeJson } from '../../../src/workers/parse-thread-content.js';
import { recordingLog } from '../../support/redis/redis.js';
import { chunks, letter } from './with-pool.js';

t.test('to the bytes of JSON.stringify, wherever a text is cut', async t => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc
      .array(fc.constantFrom('\ud83d\ude00', '\ud83d', '\ude00', '"', '\\', '\u0001', 'Ж', 'a'))
      .map(all => all.join('')),
  );
  fc.assert(
    fc.property(text, fc.option(text), fc.integer({ min: 2, max: 9 }), (subject, html, pieceLength) => {
      const content = { subject, from: { name: subject }, text: subject + subject, html, attachments: [] };
      const encoded = Buffer.from(encodeJson(content, pieceLength, pieceLength)).toString('utf8');
      return encoded === Buffer.from(JSON.stringify(content), 'utf8').toString('utf8');
    }),
  );
  t.pass('always');
});

t.test('a text that grows sixfold in JSON fits into the smallest memory', async t => {
  const pool = new ParsePool({ workers: 1, timeoutMs: 60_000, memoryMib: 64, log: recordingLog() });
  t.teardown(() => pool.stop());
  await pool.start();
  const line = `${'\u0001'.repeat(70)}\r\n`;
  const pieces = Array.from({ length: 364 }, () => line.repeat(1_000));
  const head = 'Subject: controls\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n';
  const outcome = await pool.parse(letter(chunks(head, ...pieces)));
  t.match(outcome, { status: 'parsed', prepared: { subject: 'controls' } });
});
