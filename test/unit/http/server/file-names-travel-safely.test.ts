import fc from 'fast-check';
import t from 'tap';
import { attachmentDisposition } from '../../../../src/http/server/write-reply.js';

t.test('plain names as they are, others as a fallback and in full', async t => {
  const cases: [string | null, string][] = [
    [null, 'attachment'],
    ['report.pdf', 'attachment; filename="report.pdf"'],
    ['a b.txt', 'attachment; filename="a b.txt"'],
    ['naïve.txt', `attachment; filename="na_ve.txt"; filename*=UTF-8''na%C3%AFve.txt`],
    ['a"b\\c.txt', `attachment; filename="a_b_c.txt"; filename*=UTF-8''a%22b%5Cc.txt`],
    ['100%.txt', `attachment; filename="100_.txt"; filename*=UTF-8''100%25.txt`],
    ["it's (1)*.txt", `attachment; filename="it's (1)*.txt"`],
    ['\ud800.txt', `attachment; filename="_.txt"; filename*=UTF-8''%EF%BF%BD.txt`],
  ];
  for (const [name, expected] of cases) t.equal(attachmentDisposition(name), expected);
});

t.test('no name breaks out of the header, and none is lost', async t => {
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), name => {
        const header = attachmentDisposition(name);
        const match =
          /^attachment; filename="([\x20\x21\x23-\x5b\x5d-\x7e]*)"(?:; filename\*=UTF-8''([A-Za-z0-9!#$&+.^_`|~%-]+))?$/.exec(
            header,
          );
        if (match === null) return false;
        return (match[2] === undefined ? match[1] : decodeURIComponent(match[2])) === name.toWellFormed();
      }),
      { numRuns: 1000 },
    ),
  );
});
