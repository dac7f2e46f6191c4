import { deepStrictEqual } from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { HeaderFields } from '../../../../src/mail/read/header-fields.js';
import { parseMessage } from '../../../../src/mail/read/parse-message.js';
import { parseBytes } from './parse-text.js';

const head = Buffer.from(
  'Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nHi\r\n--b\r\n' +
    'Content-Type: image/x\r\nContent-Transfer-Encoding: base64\r\n\r\n',
);
const line = Buffer.from(`${'QUJD'.repeat(19)}\r\n`);
const block = Buffer.concat(Array.from({ length: 1_000 }, () => line));

t.test('bytes are taken as they come, and not kept', async t => {
  let taken = 0;
  async function* source(): AsyncGenerator<Uint8Array> {
    yield head;
    for (; taken < 400; taken++) yield block;
    yield Buffer.from('--b--\r\n');
  }
  const before = process.memoryUsage().arrayBuffers;
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage().arrayBuffers - before);
  }, 1);
  const { content, files } = await parseMessage(source());
  clearInterval(watch);
  t.equal(content.attachments[0]?.size, 400 * 57_000);
  t.equal(files[0]?.length, 400 * block.length - 2, 'without the line end before the delimiter');
  t.ok(most < 16 * 1024 * 1024, `${most} bytes at most, of ${400 * block.length}`);
});

t.test('a source that fails rejects, and one that is not needed to its end is let go', async t => {
  let isReleased = false;
  async function* source(): AsyncGenerator<Uint8Array> {
    try {
      yield head;
      yield Buffer.from('--b--\r\n');
      for (;;) yield block;
    } finally {
      isReleased = true;
    }
  }
  t.match(await parseMessage(source()), { content: { text: 'Hi' } });
  t.ok(isReleased);
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield head;
    throw new Error('cut off');
  }
  await t.rejects(parseMessage(broken()), /cut off/);
});

t.test('what throws while a header is read rejects, and ends no thread', async t => {
  const { addLine } = HeaderFields.prototype;
  t.teardown(() => {
    HeaderFields.prototype.addLine = addLine;
  });
  HeaderFields.prototype.addLine = () => {
    throw new Error('a fault of ours');
  };
  await t.rejects(parseBytes(head), /a fault of ours/);
  HeaderFields.prototype.addLine = addLine;
  t.equal((await parseBytes(head)).content.text, 'Hi', 'the next message is read');
});

t.test('ids are the same when the message is parsed again', async t => {
  const message = Buffer.concat([head, line, head.subarray(head.indexOf('--b')), line]);
  const first = await parseBytes(message);
  t.same((await parseBytes(message)).content, first.content);
  t.same(
    first.content.attachments.map(attachment => attachment.id),
    ['a1', 'a2'],
  );
});

t.test('where the source cuts its chunks makes no difference', async t => {
  const piece = fc.constantFrom(
    ...[
      '\r\n',
      '\n',
      '\r',
      '--b',
      '--',
      '-',
      '--b\r\n',
      '--b--\r\n',
      '--c\r\n',
      '\r\n\r\n',
      ' ',
      '=',
      '=3D',
      'text',
      'Ü',
      '\0',
    ],
    ...[
      'Subject: s\r\n',
      'Content-Type: multipart/mixed; boundary=b\r\n',
      'Content-Type: multipart/mixed; boundary=c\r\n',
    ],
    ...[
      'Content-Type: image/x\r\n',
      'Content-Transfer-Encoding: base64\r\n',
      'Content-Transfer-Encoding: quoted-printable\r\n',
    ],
    ...['QUJD', '-'.repeat(2_100), 'x'.repeat(2_100)],
  );
  const property = fc.asyncProperty(
    fc.array(piece, { maxLength: 40 }),
    fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 8 }),
    async (pieces, lengths) => {
      const message = Buffer.from(pieces.join(''), 'utf8');
      let i = 0;
      const cut = await parseBytes(message, {}, () => lengths[i++ % lengths.length] ?? 1);
      deepStrictEqual(cut, await parseBytes(message));
    },
  );
  await t.resolves(fc.assert(property, { numRuns: 300 }));
});
