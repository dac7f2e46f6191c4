import { deepStrictEqual } from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { HeaderFields } from '../../../../src/mail/read/header-fields.js';
import { parseMessage } from '../../../../src/mail/read/parse-message.js';
import { FileSink, parseBytes } from './parse-text.js';

const head = Buffer.from(
  'Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nHi\r\n--b\r\n' +
    'Content-Type: image/x\r\nContent-Transfer-Encoding: base64\r\n\r\n',
);
const line = Buffer.from(`${'QUJD'.repeat(19)}\r\n`);
const block = Buffer.concat(Array.from({ length: 1_000 }, () => line));

t.test('attachment bytes reach the sink before the source ends', async t => {
  const sink = new FileSink();
  const seen: number[] = [];
  async function* source(): AsyncGenerator<Uint8Array> {
    yield head;
    for (let i = 0; i < 10; i++) {
      yield block;
      seen.push(sink.chunkLengths.reduce((sum, length) => sum + length, 0));
    }
    yield Buffer.from('--b--\r\n');
  }
  const { content } = await parseMessage(source(), sink);
  t.ok((seen[2] ?? 0) > 0, 'after the third block');
  for (const [i, bytes] of seen.entries()) t.ok((i + 1) * 57_000 - bytes < 128 * 1024, 'little is held back');
  t.same(sink.sizes, [570_000]);
  t.equal(content.attachments[0]?.size, 570_000);
  t.ok(
    sink.chunkLengths.slice(0, -1).every(length => length === 65_536),
    'chunks of 64 KiB',
  );
});

t.test('a sink that is busy stops the reading', async t => {
  let release = (): void => {};
  let announce = (): void => {};
  let isBlocking = true;
  const firstWrite = new Promise<void>(resolve => {
    announce = resolve;
  });
  const sink = {
    begin() {},
    end() {},
    write(): void | Promise<void> {
      if (!isBlocking) return;
      isBlocking = false;
      announce();
      return new Promise<void>(resolve => {
        release = resolve;
      });
    },
  };
  let yielded = 0;
  async function* source(): AsyncGenerator<Uint8Array> {
    yield head;
    for (; yielded < 10; yielded++) yield block;
  }
  const parsed = parseMessage(source(), sink);
  await firstWrite;
  const before = yielded;
  await new Promise(resolve => setImmediate(resolve));
  t.equal(yielded, before, 'nothing more was read');
  t.ok(before < 3);
  release();
  const { content } = await parsed;
  t.equal(yielded, 10);
  t.equal(content.attachments[0]?.size, 570_000);
});

t.test('no more than 256 KiB are read while a sink is stuck, in any encoding and of any parts', async t => {
  const file = (encoding: string, body: Buffer): Buffer =>
    Buffer.concat([
      Buffer.from(`--b\r\nContent-Type: image/x\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n`),
      body,
    ]);
  const bodies = ['base64', 'quoted-printable', '7bit'].map(encoding =>
    file(encoding, Buffer.concat(Array(30).fill(block))),
  );
  const small = Buffer.concat(Array(900).fill(file('base64', block.subarray(0, 2_000 * 78))));
  for (const body of [...bodies, small]) {
    const message = Buffer.concat([head, line, Buffer.from('\r\n'), body]);
    let release = (): void => {};
    const stuck = new Promise<void>(resolve => {
      release = resolve;
    });
    let calls = 0;
    let read = 0;
    async function* source(): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < message.length; at += 65_536) {
        read = at;
        yield message.subarray(at, at + 65_536);
      }
    }
    const sink = { begin() {}, write: () => (calls++ === 1 ? stuck : undefined), end() {} };
    const parsed = parseMessage(source(), sink);
    while (calls < 2) await new Promise(resolve => setImmediate(resolve));
    const before = read;
    for (let turn = 0; turn < 500; turn++) await new Promise(resolve => setImmediate(resolve));
    t.comment(`${read - before} bytes read on`);
    t.ok(read - before <= 256 * 1024);
    t.ok(read < message.length / 2, 'and the rest was not');
    release();
    await parsed;
  }
});

t.test('a failing sink or source rejects, and the source is let go', async t => {
  let isReleased = false;
  async function* source(): AsyncGenerator<Uint8Array> {
    try {
      yield head;
      for (;;) yield block;
    } finally {
      isReleased = true;
    }
  }
  const failing = Object.assign(new FileSink(), { write: () => Promise.reject(new Error('disk full')) });
  await t.rejects(parseMessage(source(), failing), /disk full/);
  t.ok(isReleased);
  // biome-ignore lint/correctness/useYield: it fails before there is anything to yield
  async function* broken(): AsyncGenerator<Uint8Array> {
    throw new Error('cut off');
  }
  await t.rejects(parseMessage(broken(), new FileSink()), /cut off/);
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

t.test('chunks belong to the sink alone', async t => {
  const chunks: Uint8Array[] = [];
  const sink = { begin() {}, write: (chunk: Uint8Array) => void chunks.push(chunk), end() {} };
  async function* source(): AsyncGenerator<Uint8Array> {
    yield head;
    yield block;
    yield block;
  }
  await parseMessage(source(), sink);
  t.equal(new Set(chunks.map(chunk => chunk.buffer)).size, chunks.length);
  t.ok(chunks.every(chunk => chunk.buffer.byteLength === chunk.length));
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
