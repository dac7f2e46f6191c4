import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { temporaryFolder } from '../../../support/redis/redis.js';
import { run } from '../../../unit/cli/run-without-a-box.js';

/** What bash offers at the end of a command line. */
async function inBash(t: Test): Promise<(...words: string[]) => string[]> {
  const file = join(temporaryFolder(t), 'completion');
  writeFileSync(file, (await run('completion', 'bash')).out);
  return (...words) => {
    const script = `source ${file}
COMP_WORDS=(postern "$@"); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _postern
printf '%s\\n' "\${COMPREPLY[@]}"`;
    const out = execFileSync('bash', ['--norc', '-uc', script, 'bash', ...words], { encoding: 'utf8' });
    return out.split('\n').filter(word => word !== '');
  };
}

t.test('bash completes commands, their options, and words to choose from', async t => {
  const complete = await inBash(t);
  const { out } = await run('--help');
  for (const command of complete('')) t.ok(out.includes(`  ${command} `), command);
  t.ok(complete('').length > 20);
  t.same(complete('mess'), ['message']);
  t.ok(complete('message', '').includes('export'));
  t.same(complete('message', 'exp'), ['export']);
  t.same(
    complete('--json', '--config', 'list', 'message', 'exp'),
    ['export'],
    'values of options are no commands',
  );
  t.same(complete('message', 'export', 'a@b', '--form'), ['--format']);
  t.same(complete('message', 'export', 'a@b', '--format', ''), ['mbox', 'eml', 'json']);
  t.ok(complete('message', 'list', 'a@b', '--js').includes('--json'), 'the options of all commands');
  t.same(complete('completion', ''), ['bash', 'zsh', 'fish']);
  t.same(complete('message', 'import', 'a@b', ''), [], 'files are left to the shell');
});

t.test('an option takes a value everywhere or nowhere', async t => {
  const { out } = await run('--json', 'completion', 'bash');
  const { script } = JSON.parse(out) as { script: string };
  const valued = new Set(/\n {6}(-[^)\n]*)\) before=/.exec(script)?.[1]?.split('|'));
  t.ok(valued.has('--config') && valued.has('--format') && !valued.has('--json'));
});

for (const shell of ['zsh', 'fish'] as const) {
  t.test(`${shell} can read what is for it`, async t => {
    const { code, out } = await run('completion', shell);
    t.equal(code, 0);
    t.match(out, /message import/);
    const file = join(temporaryFolder(t), 'completion');
    writeFileSync(file, out);
    const read = spawnSync(shell, ['-n', file], { encoding: 'utf8' });
    if (read.error === undefined) t.equal(read.status, 0, read.stderr);
    else t.comment(`there is no ${shell} here`);
  });
}

t.test('another shell is refused with the ones there are', async t => {
  const { code, err } = await run('completion', 'tcsh');
  t.equal(code, 2);
  t.match(err, /bash, zsh, fish/);
});
