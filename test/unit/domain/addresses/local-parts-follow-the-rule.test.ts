import fc from 'fast-check';
import t from 'tap';
import { isReservedLocalPart, normaliseLocalPart as normalise } from '../../../../src/domain/addresses.js';
import { resultOf } from '../../../../src/domain/errors.js';

const normaliseLocalPart = (text: string) => resultOf(() => normalise(text));

t.test('trimmed, lowercased, 1 to 64 letters, digits, hyphens and underscores', async t => {
  const accepted: [string, string][] = [
    ['a', 'a'],
    ['  My-Agent_7 \n', 'my-agent_7'],
    ['0', '0'],
    ['a--__--b', 'a--__--b'],
    ['x'.repeat(64), 'x'.repeat(64)],
  ];
  for (const [given, expected] of accepted) {
    t.strictSame(normaliseLocalPart(given), { ok: true, value: expected }, JSON.stringify(given));
  }
});

t.test('anything else is invalid_local_part', async t => {
  const refused = [
    '',
    ' ',
    '-a',
    'a-',
    '_a',
    'a_',
    'a.b',
    'a+b',
    'a b',
    'é',
    'a@b',
    'x'.repeat(65),
    'a\u0000b',
  ];
  for (const given of refused) {
    t.match(
      normaliseLocalPart(given),
      { ok: false, failure: { code: 'invalid_local_part' } },
      JSON.stringify(given),
    );
  }
});

t.test('the rule equals a naive reading of it', async t => {
  const text = fc.string({ unit: fc.constantFrom(...'aZ09-_ .+é'), maxLength: 70 });
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(text, given => {
        const local = given.trim().toLowerCase();
        const isAlphanumeric = (char: string | undefined) => char !== undefined && /[a-z0-9]/.test(char);
        const expected =
          local.length >= 1 &&
          local.length <= 64 &&
          [...local].every(char => isAlphanumeric(char) || char === '-' || char === '_') &&
          isAlphanumeric(local[0]) &&
          isAlphanumeric(local.at(-1));
        return normaliseLocalPart(given).ok === expected;
      }),
      { numRuns: 2000 },
    ),
  );
});

t.test('reserved prefixes are reserved, their neighbours are not', async t => {
  const reserved = [
    'postmaster abuse hostmaster webmaster mailer-daemon root noreply no-reply',
    'hello test reviewer_chatgpt reviewer_chatgpt_1 billing',
  ].join(' ');
  for (const name of reserved.split(' ')) t.ok(isReservedLocalPart(name, ['billing']), name);
  for (const name of ['hello1', 'testing', 'reviewer', 'reviewer_chatgptx', 'roots']) {
    t.notOk(isReservedLocalPart(name, ['billing']), name);
  }
});
