import { join } from 'node:path';
import t from 'tap';
import { loadConfig } from '../../../src/config/load-config.js';
import { FACTS, MINIMUM } from './load.js';

t.test('from the folder of the file, or from the working directory for a variable', async t => {
  const folder = t.testdir({ etc: { 'postern.toml': `${MINIMUM}[store]\npath = "data"\n` } });
  const cwd = join(folder, 'elsewhere');
  const file = '../etc/postern.toml';

  const fromFile = loadConfig({ file, env: {}, cwd, facts: FACTS });
  t.match(fromFile, { ok: true, config: { store: { path: join(folder, 'etc/data') } } });

  const fromEnvironment = loadConfig({ file, env: { POSTERN_STORE_PATH: 'data' }, cwd, facts: FACTS });
  t.match(fromEnvironment, { ok: true, config: { store: { path: join(cwd, 'data') } } });

  const absolute = loadConfig({ file, env: { POSTERN_STORE_PATH: '/srv/mail' }, cwd, facts: FACTS });
  t.match(absolute, { ok: true, config: { store: { path: '/srv/mail' } } });
});
