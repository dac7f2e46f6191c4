import { createRequire } from 'node:module';
import type { AttachmentStream, MailParser, MessageText } from 'mailparser';
import t from 'tap';
import {
  Library,
  type SplitterItem,
  type SplitterNode,
} from '../../../src/mail/read/mailparser-internals.js';

/*
 * What src/mail/read/part-streams.ts relies on in mailparser and in its splitter, beyond what they document: the members
 * that src/mail/read/mailparser-internals.ts names.
 */

const OPTIONS = { checksumAlgo: false, maxHeadSize: 1_000_000, maxChildNodes: 1_000 } as const;

type Item = AttachmentStream | MessageText;

async function parse(
  parser: MailParser,
  message: string,
  onItem: (item: Item) => void = () => {},
): Promise<string[]> {
  const bodies: string[] = [];
  let taken = Promise.resolve();
  const ended = new Promise((resolve, reject) => parser.on('end', resolve).on('error', reject));
  parser.on('data', (item: Item) => {
    onItem(item);
    if (item.type !== 'attachment') return;
    taken = (async () => {
      const at = bodies.push('') - 1;
      for await (const bytes of item.content) bodies[at] += (bytes as Buffer).toString('latin1');
      item.release?.();
    })();
  });
  parser.end(message.replaceAll('\n', '\r\n'));
  await ended;
  await taken;
  return bodies;
}

const multipart = (...parts: readonly string[]) =>
  `Content-Type: multipart/mixed; boundary=b\n\n${parts.map(part => `--b\n${part}\n`).join('')}--b--\n`;
const IMAGE = 'Content-Type: image/x\n';

t.test('they are the versions that were read', async t => {
  const require = createRequire(import.meta.url);
  const { version } = require('mailparser/package.json') as { version: string };
  t.equal(version, '3.14.2', 'read the new sources, then change this line');
  const fromParser = createRequire(require.resolve('mailparser'));
  const splitter = fromParser('@zone-eu/mailsplit/package.json') as { version: string };
  t.equal(splitter.version, '5.4.30', 'read the new sources, then change this line');
  const fromSplitter = createRequire(fromParser.resolve('@zone-eu/mailsplit'));
  t.equal(
    fromSplitter.resolve('libbase64'),
    require.resolve('libbase64'),
    'files are decoded by its decoder',
  );
});

t.test(
  'the parser: splitter, reading, readData, processHeaders, getTextContent, _transform, _flush',
  async t => {
    const calls: string[] = [];
    class Spy extends Library {
      override _transform(...[chunk, , done]: Parameters<MailParser['_transform']>): void {
        calls.push('_transform');
        this.splitter.write(chunk, () => {
          calls.push(`written, ${this.splitter.readableLength} to read`);
          done();
        });
      }

      override _flush(done: Parameters<MailParser['_flush']>[0]): void {
        calls.push('_flush');
        super._flush(done);
      }

      override readData(): void {
        super.readData();
        calls.push(this.reading ? 'reading' : 'read all');
      }

      override processHeaders(list: readonly never[]): Map<string, unknown> {
        calls.push(`processHeaders ${list.length}`);
        return new Map([['part', 'ours']]);
      }

      override getTextContent(): MessageText {
        calls.push('getTextContent');
        return { type: 'text' };
      }
    }
    const items: Item[] = [];
    const bodies = await parse(new Spy(OPTIONS), `${IMAGE}Subject: s\n\nBody\n`, item => items.push(item));
    t.same(bodies, ['Body\r\n']);
    t.same(calls, [
      '_transform',
      'written, 2 to read',
      '_flush',
      'processHeaders 2',
      'reading',
      'reading',
      'read all',
      'getTextContent',
    ]);
    t.equal((items[0] as AttachmentStream).headers.get('part' as never), 'ours', 'goes with the attachment');
    t.same(items[1], { type: 'text' }, 'and the texts are what we give');
  },
);

t.test(
  'the splitter: node, nodeCounter, inEpilogue, newNode, processLine, checkBoundary, compareBoundary, push',
  async t => {
    const parser = new Library(OPTIONS);
    const { splitter } = parser;
    t.ok(splitter.node.root, 'the message is there before its first byte');
    t.equal(splitter.nodeCounter, 1);
    const calls: string[] = [];
    const { newNode, processLine, checkBoundary, compareBoundary, push } = splitter;
    splitter.newNode = parent => {
      calls.push(`newNode in ${parent === splitter.node}`);
      newNode.call(splitter, parent);
      t.equal(splitter.node.parentNode, parent);
      t.notOk(splitter.node.root);
      t.equal(splitter.nodeCounter, 2);
    };
    splitter.processLine = (line, isFinal, next) => {
      calls.push(`line ${line === false ? line : JSON.stringify(line.toString())}`);
      processLine.call(splitter, line, isFinal, next);
    };
    splitter.checkBoundary = line => {
      const found = checkBoundary.call(splitter, line);
      if (found !== false) calls.push(`delimiter ${found}`);
      return found;
    };
    splitter.compareBoundary = (line, start, boundary) => {
      t.equal(boundary, splitter.node._boundary || (splitter.node.parentNode as SplitterNode)._boundary);
      return compareBoundary.call(splitter, line, start, boundary);
    };
    splitter.push = (item: SplitterItem | null) => {
      calls.push(`push ${item?.type ?? 'end'}${item?.type === 'body' ? ` of ${item.value}` : ''}`);
      return push.call(splitter, item);
    };
    await parse(parser, 'Content-Type: multipart/mixed; boundary=b\n\n--b\n\nHi\n--b--\nafter\n');
    t.same(calls, [
      'line "Content-Type: multipart/mixed; boundary=b\\r\\n"',
      'line "\\r\\n"',
      'push node',
      'line "--b\\r\\n"',
      'delimiter 1',
      'newNode in true',
      'push data',
      'line "\\r\\n"',
      'push node',
      'line "Hi\\r\\n"',
      'line "--b--\\r\\n"',
      'delimiter 4',
      'push body of Hi',
      'line "after\\r\\n"',
      'push data',
      'line false',
      'push end',
    ]);
    t.ok(splitter.inEpilogue && splitter.node.root, 'the message has ended');
  },
);

t.test(
  'a part: addHeaderChunk, parseHeaders, headers, _headerlen, contentType, multipart, _boundary, encoding, disposition, getDecoder',
  async t => {
    const lines: string[] = [];
    const parser = new Library(OPTIONS);
    const { splitter } = parser;
    const { newNode, compareBoundary } = splitter;
    const describe = (node: SplitterNode): void => {
      node._headerlen = 1;
      node.addHeaderChunk = line => {
        lines.push(String(line));
        return line.toString() === '\r\n';
      };
      node.parseHeaders = () => {
        if (node.headers !== false) return;
        node.headers = { lines: [], getList: () => [] };
        node.disposition = 'attachment';
        node.contentType = node.root ? 'multipart/mixed' : 'application/octet-stream';
        node.encoding = 'base64';
        if (!node.root) return;
        node.multipart = 'mixed';
        node._boundary = { length: 1, forms: ['ours'] };
      };
      const { getDecoder } = node;
      node.getDecoder = () => {
        lines.push(`getDecoder ${node.encoding}`);
        return getDecoder.call(node);
      };
    };
    describe(splitter.node);
    splitter.newNode = parent => {
      newNode.call(splitter, parent);
      describe(splitter.node);
    };
    splitter.compareBoundary = (line, start, boundary) => {
      t.same(boundary.forms, ['ours'], 'what we set is what we are asked for');
      return compareBoundary.call(splitter, line, start, Buffer.from('b') as never);
    };
    const bodies = await parse(parser, 'Subject: s\n\n--b\nX: y\n\nSGk=\n--b\nX: z\n--b--\n');
    t.same(bodies, ['Hi', ''], 'decoded by what we say; a header alone before the end is a part');
    t.same(lines, [
      'Subject: s\r\n',
      '\r\n',
      'X: y\r\n',
      '\r\n',
      'X: z\r\n',
      'getDecoder base64',
      'getDecoder base64',
    ]);
  },
);

t.test('a line is a view of what was written, up to its line end, and the last one is false', async t => {
  const { splitter } = new Library(OPTIONS);
  const { processLine } = splitter;
  const message = Buffer.from(multipart(`${IMAGE}\nA\r`, `${IMAGE}\n\nB`).replaceAll('\n', '\r\n'));
  const ends: (number | false)[] = [];
  await new Promise<void>(resolve => {
    splitter.processLine = (line, isFinal, next) => {
      ends.push(line !== false && line.byteOffset + line.length - message.byteOffset);
      if (line === false) resolve();
      processLine.call(splitter, line, isFinal, next);
    };
    splitter.end(message);
  });
  const expected = [...message].flatMap((byte, at) => (byte === 10 ? [at + 1] : []));
  t.same(ends, [...expected, false]);
});

t.test('the faults that we mend are still there: when one goes, so can its mend', async t => {
  const plain = () => new Library(OPTIONS);
  t.same(
    await parse(plain(), multipart(`${IMAGE}\n`, `${IMAGE}\nx`)),
    ['\r\n', 'x'],
    'an empty part has a line end',
  );
  t.same(
    await parse(plain(), multipart(IMAGE.trimEnd(), `${IMAGE}\nx`)),
    ['x'],
    'a header alone is passed over',
  );
});
