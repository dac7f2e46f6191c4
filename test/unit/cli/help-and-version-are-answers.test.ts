import t from 'tap';
import { run } from './run-without-a-box.js';

t.test('--help tells the commands, the exit codes and where errors go', async t => {
  const { code, out } = await run('--help');
  t.equal(code, 0);
  for (const noun of [
    'init',
    'serve',
    'config',
    'account',
    'key',
    'allowance',
    'inbox',
    'policy',
    'message',
    'sent',
    'queue',
    'suppression',
    'status',
    'version',
  ]) {
    t.match(out, new RegExp(`^  ${noun}\\b`, 'm'), noun);
  }
  t.match(out, /0 done, 1 failed, 2 wrong usage, 3 wrong configuration, 4 not found/);
  t.match(out, /leaves stdout empty/);
});

t.test('the help of a command names the global options', async t => {
  const { code, out } = await run('message', 'list', '--help');
  t.equal(code, 0);
  t.match(out, /--limit <n>/);
  t.match(out, /--config <file>/);
});

t.test('each command of the help is there, whatever stands before it', async t => {
  const { out } = await run('--help');
  const names = [...out.matchAll(/^ {2}([a-z]+) /gm)].flatMap(([, name]) => name ?? []);
  t.ok(names.includes('doctor') && names.includes('completion'), names.join(' '));
  for (const name of names.filter(one => one !== 'help')) {
    for (const before of [[], ['--json'], ['--config', 'account'], ['--config=key', '--json']]) {
      const { code, out: help } = await run(...before, name, '--help');
      t.equal(code, 0, [...before, name].join(' '));
      t.match(help, new RegExp(`^Usage: postern ${name}\\b`), [...before, name].join(' '));
    }
    t.match((await run('help', name)).out, new RegExp(`^Usage: postern ${name}\\b`), `help ${name}`);
  }
});

t.test('a misspelt command is told the one that is meant', async t => {
  const { code, err } = await run('--json', '--config', 'account', 'mesage', 'list');
  t.equal(code, 2);
  t.match(err, /unknown command 'mesage'.*Did you mean message/);
});

t.test('version and --version tell the version', async t => {
  t.same(await run('version'), { code: 0, out: 'postern 1.2.3\n', err: '' });
  t.same(await run('--version'), { code: 0, out: '1.2.3\n', err: '' });
  t.same(await run('version', '--json'), { code: 0, out: '{"version":"1.2.3"}\n', err: '' });
});
