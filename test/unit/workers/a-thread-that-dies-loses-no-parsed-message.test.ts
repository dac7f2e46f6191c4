import t from 'tap';
import { unknownAuthentication } from '../../../src/domain/verdict.js';
import type { PreparedContent } from '../../../src/usecases/ports.js';
import { PendingChecks } from '../../../src/workers/pending-checks.js';

const prepared = { subject: 'kept' } as PreparedContent;
const later = (job: number) => ({ status: 'parsed', job, prepared, check: 'later' }) as const;
const found = { ...unknownAuthentication('x'), verdict: 'pass' } as const;

t.test('what was parsed is kept; who has written it is unknown', async t => {
  const checks = new PendingChecks<string>(5_000);
  const [first, second, other] = [
    checks.outcomeOf('thread', later(1)),
    checks.outcomeOf('thread', later(2)),
    checks.outcomeOf('another', later(1)),
  ];
  checks.hear('thread', [{ job: 1, authentication: found }]);
  t.match(await first, {
    status: 'parsed',
    prepared: { subject: 'kept', authentication: { verdict: 'pass' } },
  });
  t.ok(checks.waitFor('thread'), 'one is still under way');
  checks.giveUp('thread');
  t.match(await second, { prepared: { subject: 'kept', authentication: { verdict: 'unknown' } } });
  t.notOk(checks.waitFor('thread'));
  t.ok(checks.waitFor('another'), 'those of other threads go on');
  checks.hear('thread', [{ job: 2, authentication: found }]);
  checks.stop();
  t.match(await other, { status: 'stopped' });
});

t.test('a check that was done in time keeps nothing waiting', async t => {
  const checks = new PendingChecks<string>(5_000);
  const outcome = checks.outcomeOf('thread', { ...later(1), check: found });
  t.match(outcome, { status: 'parsed', prepared: { authentication: { verdict: 'pass' } } });
  t.notOk(checks.waitFor('thread'));
});
