import t from 'tap';
import { SignInFlows } from '../../../src/signin/sign-in-flows.js';

const SECRETS = { state: 's', nonce: 'n', codeVerifier: 'v' };

t.test('by its key, once', async t => {
  const flows = new SignInFlows(() => 1);
  const [one, two] = [flows.begin(SECRETS), flows.begin({ ...SECRETS, state: 't' })];
  t.match(one, /^[\w-]{43}$/);
  t.not(one, two);
  t.match(flows.take(one), SECRETS);
  t.equal(flows.take(one), null);
  t.equal(flows.take('nonsense'), null);
  t.match(flows.take(two), { state: 't' });
});

t.test('within ten minutes', async t => {
  const now = { ms: 1 };
  const flows = new SignInFlows(() => now.ms);
  const [one, two] = [flows.begin(SECRETS), flows.begin(SECRETS)];
  now.ms += 600_000;
  t.ok(flows.take(one));
  now.ms += 1;
  t.equal(flows.take(two), null);
});

t.test('while there are not too many', async t => {
  const flows = new SignInFlows(() => 1);
  const first = flows.begin(SECRETS);
  const second = flows.begin(SECRETS);
  for (let n = 0; n < 9_999; n++) flows.begin(SECRETS);
  t.equal(flows.take(first), null, 'the oldest goes');
  t.ok(flows.take(second));
});
