import { existsSync } from 'node:fs';
import t from 'tap';
import type { ServeOptions } from '../../../../src/cli/program.js';
import { StoreInUseError } from '../../../../src/usecases/upkeep/claim-store.js';
import { cliBox, DOMAIN } from '../cli-box.js';

t.test('the daemon gets the checked configuration; its exit code is ours', async t => {
  const seen: ServeOptions[] = [];
  const box = await cliBox(t, {
    isInitialised: false,
    serve: async options => {
      seen.push(options);
      return 7;
    },
  });
  const run = await box.run('serve');
  t.equal(run.code, 7);
  t.equal(run.out, '');
  t.equal(seen[0]?.configFile, box.configFile);
  t.same(seen[0]?.config.mail.domains, [DOMAIN]);
  t.equal(seen[0]?.config.store.path, box.dataDir);
  t.notOk(existsSync(`${box.dataDir}/store`), 'the store is left to the daemon');
});

t.test('a store that another daemon serves is told in words', async t => {
  const lease = { pid: 4711, socket: '', startedAt: 0, version: '1.2.3' };
  const box = await cliBox(t, { serve: () => Promise.reject(new StoreInUseError(lease)) });
  const { code, out, error } = await box.failure('serve');
  t.equal(code, 1);
  t.equal(out, '');
  t.match(error.message, /pid 4711/);
});
