import fc from 'fast-check';
import t from 'tap';
import { readResearchAnswer } from '../../../../src/domain/text.js';

t.test('a text of up to 500 UTF-16 units is an answer, trimmed', async t => {
  t.equal(readResearchAnswer('  a colleague told me \n'), 'a colleague told me');
  t.equal(readResearchAnswer('x'.repeat(500)), 'x'.repeat(500));
  t.equal(readResearchAnswer(` ${'x'.repeat(500)} `), 'x'.repeat(500), 'measured after trimming');
  t.equal(readResearchAnswer('🦉'.repeat(250)), '🦉'.repeat(250), 'an owl has two units');
});

t.test('whatever else is sent is no answer', async t => {
  for (const value of [
    '',
    ' \t ',
    'x'.repeat(501),
    '🦉'.repeat(251),
    '\ud800',
    undefined,
    null,
    7,
    true,
    ['a'],
    {},
  ]) {
    t.equal(readResearchAnswer(value), null, JSON.stringify(value)?.slice(0, 40));
  }
  fc.assert(
    fc.property(fc.jsonValue(), value => readResearchAnswer(value) === null || typeof value === 'string'),
  );
});
