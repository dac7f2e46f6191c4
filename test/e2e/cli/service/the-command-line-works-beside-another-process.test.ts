import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { createAccount } from '../../../../src/usecases/accounts/accounts.js';
import { authenticate } from '../../../support/use-cases.js';
import { cliBox } from '../cli-box.js';

const script = join(import.meta.dirname, '../cli-process.js');

t.test('each sees what the other has committed, while both have the store open', async t => {
  const box = await cliBox(t);
  const store = await box.openStore();
  t.teardown(() => store.close());
  const postern = async (...args: string[]) => {
    const argv = [script, '--config', box.configFile, '--json', ...args];
    const { stdout } = await promisify(execFile)(process.execPath, argv, {
      env: { ...process.env, ...box.env },
    });
    return JSON.parse(stdout) as Record<string, string>;
  };
  await createAccount({ store, clock: Date.now }, 'ada@example.org');
  const { credential, key_id } = await postern('key', 'create', '--account', 'ada@example.org');
  t.equal(authenticate({ store }, credential!)?.email, 'ada@example.org');
  await postern('key', 'revoke', key_id!);
  t.equal(authenticate({ store }, credential!), null);
});
