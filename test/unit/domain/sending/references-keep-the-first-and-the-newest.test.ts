import fc from 'fast-check';
import t from 'tap';
import { resultOf } from '../../../../src/domain/errors.js';
import { isUsableMessageId, type ReplyParent, replyHeaders } from '../../../../src/domain/message-ids.js';
import type { ReplyHeaders } from '../../../../src/domain/message-parts.js';

const parent: ReplyParent = { messageId: '<p@a.example>', references: null, inReplyTo: null };

function headers(changes: Partial<ReplyParent>): ReplyHeaders | string {
  const result = resultOf(() => replyHeaders({ ...parent, ...changes }));
  return result.ok ? result.value : result.failure.code;
}

const references = (changes: Partial<ReplyParent>) => {
  const found = headers(changes);
  return typeof found === 'string' ? found : found.references;
};

t.test('the ancestry of the parent, then the parent', async t => {
  t.same(headers({}), { inReplyTo: '<p@a.example>', references: '<p@a.example>' });
  t.same(headers({ references: '<a@x> <b@x>', inReplyTo: '<c@x>' }), {
    inReplyTo: '<p@a.example>',
    references: '<a@x> <b@x> <p@a.example>',
  });
  t.equal(references({ inReplyTo: 'Your message of <c@x>' }), '<c@x> <p@a.example>');
  t.equal(references({ references: 'none at all', inReplyTo: '<c@x>' }), '<c@x> <p@a.example>');
});

t.test('a Message-ID counts with and without its brackets', async t => {
  t.same(headers({ messageId: 'p@a.example' }), headers({}));
  t.same(headers({ messageId: '<no-at-sign>' }), { inReplyTo: '<no-at-sign>', references: '<no-at-sign>' });
});

t.test('without a usable Message-ID there is nothing to answer', async t => {
  for (const messageId of [null, '', 'words', '<>', '<é@a.example>', `<${'i'.repeat(984)}>`, '<a\u0001@b>']) {
    t.equal(headers({ messageId }), 'reply_headers_unavailable', JSON.stringify(messageId));
  }
});

t.test('an id is usable where it can be repeated as it stands', async t => {
  for (const id of ['a@b', 'x', '"a,b"@d', 'a@[127.0.0.1]', 'i'.repeat(983)]) {
    t.ok(isUsableMessageId(id), id);
  }
  for (const id of ['', 'a b', 'a\tb', 'a\r\nBcc: x', '<a', 'a>', 'é', '\u0000', '\u007f', 'i'.repeat(984)]) {
    t.notOk(isUsableMessageId(id), JSON.stringify(id));
  }
});

t.test('what is not usable is left out, what stands twice is given once', async t => {
  t.equal(
    references({ references: '<a@x> <é@x> <b@x><a@x> (<c@x>) <p@a.example> <d @x>' }),
    '<a@x> <b@x> <d@x> <p@a.example>',
  );
});

t.test('of a long ancestry the first and the newest are kept, 20 with the parent', async t => {
  const ids = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, n) => `<${from + n}@x>`).join(' ');
  t.equal(references({ references: ids(0, 19) }), `${ids(0, 19)} <p@a.example>`);
  t.equal(references({ references: ids(0, 20) }), `<0@x> ${ids(2, 20)} <p@a.example>`);
  t.equal(references({ references: ids(0, 50) }), `<0@x> ${ids(32, 50)} <p@a.example>`);
});

t.test('where the first leaves no room for the parent, the parent is given', async t => {
  const long = `<${'l'.repeat(900)}@x>`;
  const messageId = `<${'p'.repeat(200)}@x>`;
  t.equal(references({ messageId, references: `${long} <b@x> <c@x>` }), `<b@x> <c@x> ${messageId}`);
});

const id = fc.oneof(
  { weight: 5, arbitrary: fc.stringMatching(/^[a-f0-9]{1,20}@[a-z]{1,10}$/) },
  { weight: 1, arbitrary: fc.constantFrom('a@x', 'b@x', 'p@a.example') },
  { weight: 1, arbitrary: fc.stringMatching(/^[a-z]{100,400}$/) },
);

/** The longest list that fits, of the first id and a number of the newest. */
function model(ids: readonly string[], parentId: string): string {
  const all = [...new Set(ids.filter(one => one !== parentId))];
  const written = (some: readonly string[]) => some.map(one => `<${one}>`).join(' ');
  const fits = (some: readonly string[]) => some.length <= 20 && written(some).length <= 998;
  const newest = (count: number) => (count === 0 ? [] : all.slice(1).slice(-count));
  const begun = all.slice(0, 1);
  const start = fits([...begun, parentId]) ? begun : [];
  const rest = start.length > 0 ? newest : (count: number) => (count === 0 ? [] : all.slice(-count));
  for (let count = all.length; count >= 0; count--) {
    const some = [...start, ...rest(count), parentId];
    if (fits(some)) return written(some);
  }
  throw new Error('the parent alone fits');
}

t.test('never more than 20 ids and 998 octets, and as many as can be', async t => {
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(fc.array(id, { maxLength: 60 }), id, (ids, parentId) => {
        const found = headers({
          messageId: `<${parentId}>`,
          references: ids.map(one => `<${one}>`).join(' '),
          inReplyTo: '<other@x>',
        });
        const expected = model(ids.length > 0 ? ids : ['other@x'], parentId);
        return typeof found !== 'string' && found.references === expected;
      }),
      { numRuns: 500 },
    ),
  );
});

t.test('whatever the header says, the answer is made of usable ids and ends in the parent', async t => {
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 400 }),
        fc.string({ unit: fc.constantFrom('<', '>', 'a', '@', ' ', '"', '(', '\\', '\n'), maxLength: 80 }),
        (references, inReplyTo) => {
          const found = headers({ references, inReplyTo });
          if (typeof found === 'string') return false;
          const ids = found.references.split(' ');
          return (
            ids.at(-1) === '<p@a.example>' &&
            new Set(ids).size === ids.length &&
            ids.every(one => /^<.*>$/.test(one) && isUsableMessageId(one.slice(1, -1)))
          );
        },
      ),
      { numRuns: 500 },
    ),
  );
});
