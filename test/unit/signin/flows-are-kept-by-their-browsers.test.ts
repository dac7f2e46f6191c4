import t from 'tap';
import { SignInFlows } from '../../../src/signin/sign-in-flows.js';

const MINUTE_MS = 60_000;

t.test('a flow is opened by its key, with the secrets it began with', async t => {
  const flows = new SignInFlows(() => 1);
  const [one, two] = [flows.begin(), flows.begin()];
  t.match(one.key, /^[\w-]{43}$/);
  t.same(flows.open(one.key), one.secrets);
  t.same(flows.open(two.key), two.secrets);
  const all = [one, two].flatMap(({ key, secrets }) => [key, ...Object.values(secrets)]);
  t.equal(new Set(all).size, 8, 'nothing of it is twice the same, and the key holds no secret');
  for (const secret of Object.values(one.secrets)) t.match(secret, /^[\w-]{43}$/);
});

t.test('within ten minutes, on a clock that was set back too', async t => {
  const now = { ms: 100 * MINUTE_MS };
  const flows = new SignInFlows(() => now.ms);
  const { key, secrets } = flows.begin();
  for (const [ms, isOpen] of [
    [110 * MINUTE_MS, true],
    [110 * MINUTE_MS + 1, false],
    [90 * MINUTE_MS - 1, false],
    [90 * MINUTE_MS, true],
  ] as const) {
    now.ms = ms;
    t.same(flows.open(key), isOpen ? secrets : null, String(ms));
  }
});

t.test('a key that was changed, made up or given out by another process opens nothing', async t => {
  const flows = new SignInFlows(() => 1);
  const { key } = flows.begin();
  t.equal(new SignInFlows(() => 1).open(key), null);
  const bytes = Buffer.from(key, 'base64url');
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at]! ^= 1;
    t.equal(flows.open(changed.toString('base64url')), null, `byte ${at}`);
  }
  for (const wrong of ['', 'nonsense', `${key}A`, key.slice(1), 'A'.repeat(43), `${key.slice(0, 42)}=`]) {
    t.equal(flows.open(wrong), null, wrong);
  }
});

t.test('any number of others pushes none out, and takes up no memory', async t => {
  const flows = new SignInFlows(() => 1);
  const first = flows.begin();
  for (let n = 0; n < 20_000; n++) flows.begin();
  t.same(flows.open(first.key), first.secrets);
});
