import { deepStrictEqual } from 'node:assert/strict';
import t from 'tap';
import { defaultParseLimits, type ParseLimits } from '../../../../src/mail/read/limits.js';
import { FromReader } from '../../../../src/mail/read/message-header.js';
import { messageCorpus } from '../../../fuzz/mime-corpus.js';
import { mutate } from '../../../fuzz/mutate.js';
import { Random } from '../../../fuzz/random.js';
import { parseBytes, utf8 } from './parse-text.js';

function fromIn(bytes: Buffer, limits: Partial<ParseLimits> = {}, nextLength = () => 65_536) {
  const reader = new FromReader({ ...defaultParseLimits, ...limits });
  for (let at = 0; at < bytes.length; ) {
    const length = nextLength();
    reader.push(bytes.subarray(at, at + length));
    at += length;
  }
  return reader.end();
}

const fromOf = (header: string, limits: Partial<ParseLimits> = {}) =>
  fromIn(Buffer.from(`${header}\n\nFrom: body@e.example\n`.replace(/\r?\n/g, '\r\n'), 'latin1'), limits);

t.test('every mailbox of every From field counts, members of groups too', async t => {
  for (const [header, addresses] of [
    ['From: Ann <ann@a.example>', ['ann@a.example']],
    ['fROM : ann@a.example', ['ann@a.example']],
    ['From: ann@a.example, "B, C" <b@b.example>', ['ann@a.example', 'b@b.example']],
    ['From: Team: ann@a.example, b@b.example; c@c.example', ['ann@a.example', 'b@b.example', 'c@c.example']],
    ['From: ann@a.example\nTo: x@x.example\nFrom: b@b.example', ['ann@a.example', 'b@b.example']],
    ['From:\n <ann@good.\n example>', ['ann@good.example']],
    ['From: "boss@bank.example" <x@a.example>', ['x@a.example']],
    [utf8('From: jörg@bücher.example'), ['jörg@bücher.example']],
    ['From: Nobody', []],
    ['From:', []],
    ['Sender: ann@a.example\nReply-To: b@b.example', []],
    ['X-From: ann@a.example', []],
    ['From ann@a.example Fri Nov 27\nFrom: b@b.example', ['b@b.example']],
  ] as const) {
    t.strictSame(fromOf(header), addresses, header);
  }
});

t.test('the header ends at its empty line, or with the message', async t => {
  t.strictSame(fromIn(Buffer.from('\r\nFrom: ann@a.example\r\n\r\n')), []);
  t.strictSame(fromIn(Buffer.from('Subject: x\r\nFrom: ann@a.example')), ['ann@a.example']);
  t.strictSame(fromIn(Buffer.alloc(0)), []);
  const reader = new FromReader();
  reader.push(Buffer.from('From: ann@a.example\r\n'));
  t.notOk(reader.isDone);
  reader.push(Buffer.from('\r\n'));
  t.ok(reader.isDone);
  reader.push(Buffer.from('From: b@b.example\r\n'));
  t.strictSame(reader.end(), ['ann@a.example']);
});

t.test('fields that nobody reads may be as many as they like before From', async t => {
  const filler = Buffer.from('X-Filler: filler filler\r\n'.repeat(100_000));
  t.strictSame(fromIn(Buffer.concat([filler, Buffer.from('From: ann@a.example\r\n\r\n')])), [
    'ann@a.example',
  ]);
});

t.test('a From beyond the limits of the parser is not there, as in content', async t => {
  const header = `${'To: x@x.example\n'.repeat(10)}From: ann@a.example`;
  t.strictSame(fromOf(header, { headerLines: 10 }), []);
  t.strictSame(fromOf(header, { headerLines: 11 }), ['ann@a.example']);
  t.strictSame(fromOf(`From: ${'a@a.example, '.repeat(20)}`, { addresses: 5 }).length, 5);
});

t.test('of a From that goes on and on the beginning counts', async t => {
  const many = 'a@a.example, '.repeat(5_000);
  const read = fromOf(`From: ${many}b@b.example`);
  t.ok(read.length > 2_000 && read.length < 3_000);
  t.ok(
    read.every(address => address === 'a@a.example'),
    'and is not cut within an address',
  );
  t.equal(
    fromOf(`From: x@x.example\n${`From: ${'a@a.example, '.repeat(1_000)}\n`.repeat(50)}To: b@b.example`)
      .length,
    2_001,
  );
});

t.test('it shows the sender that content shows, in whatever pieces and however damaged', async t => {
  const random = new Random(20_261_127);
  const corpus = messageCorpus();
  let senders = 0;
  for (let n = 0; n < 1500; n++) {
    const original = random.pick(corpus);
    const bytes =
      n < corpus.length ? original : mutate(original, random, ['\r\n', 'From: ', '<', '@', ',', ';', ':']);
    const { content } = await parseBytes(bytes);
    const shown = content.from === null ? [] : 'group' in content.from ? content.from.group : [content.from];
    const addresses = shown.map(mailbox => mailbox.address).filter(address => address !== '');
    const read = fromIn(bytes, {}, () => 1 + random.below(100));
    deepStrictEqual(read.slice(0, addresses.length), addresses, bytes.toString('latin1'));
    if (content.from === null) deepStrictEqual(read, []);
    senders += addresses.length;
  }
  t.ok(senders > 500, 'which is not to say nothing');
});
