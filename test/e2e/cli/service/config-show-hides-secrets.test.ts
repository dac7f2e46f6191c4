import t from 'tap';
import { cliBox } from '../cli-box.js';

const SETTINGS = '[redis]\nmode = "external"\nurl = "redis://:hunter2@redis.example.com:6379/0"\n';

t.test('a secret is told to be set, and nothing more', async t => {
  const box = await cliBox(t, { isInitialised: false, settings: SETTINGS });
  for (const format of [[], ['--json']]) {
    const run = await box.run('config', 'show', ...format);
    t.equal(run.code, 0, run.err);
    t.match(run.out, 'redis.url');
    t.match(run.out, '(set)');
    t.notMatch(run.out, 'hunter2');
  }
});

t.test('each value names its source', async t => {
  const box = await cliBox(t, { isInitialised: false });
  const { settings } = await box.json<{ settings: { key: string; source: string; from: string | null }[] }>(
    'config',
    'show',
  );
  const from = (key: string) => settings.find(setting => setting.key === key);
  t.match(from('mail.domains'), { source: 'file', from: box.configFile });
  t.match(from('store.disk_floor_mib'), { source: 'environment', from: 'POSTERN_STORE_DISK_FLOOR_MIB' });
  t.match(from('smtp.port'), { source: 'default', from: null });
});

t.test('config explain needs no configuration', async t => {
  const box = await cliBox(t, { isInitialised: false });
  const run = await box.runPlain('--config', '/nonexistent/postern.toml', 'config', 'explain', '--json');
  t.equal(run.code, 0, run.err);
  const { keys } = JSON.parse(run.out) as { keys: { key: string }[] };
  t.ok(keys.some(({ key }) => key === 'store.path'));
});
