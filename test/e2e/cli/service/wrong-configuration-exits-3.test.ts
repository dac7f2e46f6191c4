import { join } from 'node:path';
import t from 'tap';
import { cliBox } from '../cli-box.js';

t.test('every problem is told at once, with exit code 3', async t => {
  const box = await cliBox(t, { isInitialised: false, settings: '[smtp]\nport = 70000\nprot = 25\n' });
  for (const command of [
    ['config', 'check'],
    ['config', 'show'],
    ['account', 'list'],
    ['status'],
    ['serve'],
  ]) {
    const run = await box.run(...command);
    t.equal(run.code, 3, command.join(' '));
    t.equal(run.out, '');
    t.match(run.err, /2 problems/);
    t.match(run.err, /smtp\.port/);
    t.match(run.err, /Did you mean smtp\.port/);
  }
});

t.test('with --json the problems are a list', async t => {
  const box = await cliBox(t, { isInitialised: false, settings: '[smtp]\nport = 70000\n' });
  const { code, out, error } = await box.failure('config', 'check');
  t.equal(code, 3);
  t.equal(out, '');
  t.match(error, {
    code: 'invalid_configuration',
    details: { problems: [{ where: /smtp\.port/, fix: String }] },
  });
});

t.test('a file that is not there is a wrong configuration', async t => {
  const box = await cliBox(t, { isInitialised: false });
  const missing = join(box.folder, 'missing.toml');
  const run = await box.runPlain('--config', missing, 'account', 'list');
  t.equal(run.code, 3);
  t.match(run.err, missing);
  t.match(run.err, /postern init/);
});

t.test('config check says that all is well', async t => {
  const box = await cliBox(t, { isInitialised: false });
  t.same(await box.json('config', 'check'), {
    status: 'ok',
    file: box.configFile,
    memory: { bytes: 2 ** 30, parts: [{ part: 'a part', bytes: 2 ** 30 }] },
  });
  t.match((await box.run('config', 'check')).out, /1024 MiB/);
});

t.test('and what is right but probably not meant', async t => {
  const settings = `[signup]\npolicy = "domains"\ndomains = ["agents.test", "guests.example"]\n`;
  const box = await cliBox(t, { isInitialised: false, settings });
  const { warnings } = await box.json<{ warnings: object[] }>('config', 'check');
  t.match(warnings, [{ where: 'signup.domains', what: /^agents\.test is ignored/, fix: /postern approve/ }]);
  const { code, out } = await box.run('config', 'check');
  t.equal(code, 0);
  t.match(out, /^The configuration is right .*\nWarning: signup\.domains: agents\.test is ignored/);
});
