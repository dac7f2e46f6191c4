import t from 'tap';
import { notFound, Refusal, refuse, resultOf } from '../../../../src/domain/errors.js';

const throwing = (error: unknown) => () => {
  throw error;
};

t.test('what an act gives is its value, whatever that is', async t => {
  for (const value of [1, '', null, undefined, false]) {
    t.strictSame(
      resultOf(() => value),
      { ok: true, value },
    );
  }
});

t.test('what it is refused for is its failure, all of it', async t => {
  t.strictSame(resultOf(throwing(refuse('invalid_name', 'Too long.', { bytes: 257 }))), {
    ok: false,
    failure: { code: 'invalid_name', message: 'Too long.', details: { bytes: 257 } },
  });
  const failure = {
    code: 'rate_limited',
    message: 'Wait.',
    retryAfterS: 3,
    beside: { reason: 'x' },
  } as const;
  t.strictSame(resultOf(throwing(new Refusal(failure))), { ok: false, failure });
  t.match(resultOf(throwing(notFound('inbox'))), {
    failure: { code: 'not_found', message: 'There is no such inbox, or it is not yours.' },
  });
});

t.test('what is no refusal is thrown on as it is', async t => {
  const lookalike = Object.assign(new Error('no'), { failure: { code: 'not_found', message: 'no' } });
  for (const error of [new Error('a fault'), new TypeError('x is undefined'), lookalike, 'text', null]) {
    let caught: unknown = 'nothing';
    try {
      resultOf(throwing(error));
    } catch (thrown) {
      caught = thrown;
    }
    t.equal(caught, error);
  }
});
