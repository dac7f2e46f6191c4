import t from 'tap';
import { ParsePool } from '../../../src/workers/parse-pool.js';
import { readEncodedFile } from '../../support/letters/encoded-file.js';
import { recordingLog } from '../../support/redis/redis.js';
import { chunks, letter } from './with-pool.js';

const head = [
  'From: Ann <ann@example.com>',
  'To: bob@example.net',
  'Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=',
  'Message-ID: <one@example.com>',
  'References: <zero@example.com>',
  'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary=b',
];
const parts = [
  '--b',
  'Content-Type: text/plain; charset=utf-8',
  '',
  'Hello',
  '--b',
  'Content-Type: application/octet-stream; name=a.bin',
  'Content-Disposition: attachment; filename=a.bin',
  'Content-Transfer-Encoding: base64',
  '',
  Buffer.from([0, 1, 2, 254, 255]).toString('base64'),
  '--b--',
  '',
];

t.test('by the real parser, with what lists and threading need beside the JSON', async t => {
  const pool = new ParsePool({ workers: 1, timeoutMs: 30_000, memoryMib: 128, log: recordingLog() });
  t.teardown(() => pool.stop());
  await pool.start();
  const outcome = await pool.parse(letter(chunks(`${head.join('\r\n')}\r\n\r\n`, parts.join('\r\n'))));
  if (outcome.status !== 'parsed') throw new Error(JSON.stringify(outcome));
  const { json, attachments, ...values } = outcome.prepared;
  t.match(values, {
    subject: 'Grüße',
    messageId: '<one@example.com>',
    from: { name: 'Ann', address: 'ann@example.com' },
    ids: { messageId: 'one@example.com', references: ['zero@example.com'], inReplyTo: [] },
  });
  const content = JSON.parse(Buffer.from(json).toString('utf8'));
  t.match(content, { subject: 'Grüße', text: /^Hello/, attachments: [{ filename: 'a.bin', size: 5 }] });
  const raw = Buffer.from(`${head.join('\r\n')}\r\n\r\n${parts.join('\r\n')}`);
  t.match(attachments, [{ id: content.attachments[0].id, filename: 'a.bin', encoding: 'base64' }]);
  t.same(await readEncodedFile(raw, attachments[0]!), Buffer.from([0, 1, 2, 254, 255]));
});
