import { join } from 'node:path';
import t from 'tap';
import { loadConfig } from '../../../src/config/load-config.js';
import { FACTS, MINIMUM } from './load.js';

const named = (name: string) => `${MINIMUM}[service]\nname = "${name}"\n`;

function nameFrom(options: Omit<Parameters<typeof loadConfig>[0], 'facts'>): string {
  const result = loadConfig({ ...options, facts: FACTS });
  return result.ok ? result.config.service.name : (result.problems[0]?.what ?? '');
}

t.test('the file asked for, the file of the environment, then the first that exists', async t => {
  const cwd = t.testdir({
    'a.toml': named('a'),
    'b.toml': named('b'),
    'c.toml': named('c'),
    'd.toml': named('d'),
  });
  const lookIn = [join(cwd, 'missing.toml'), join(cwd, 'c.toml'), join(cwd, 'd.toml')];
  const env = { POSTERN_CONFIG: 'b.toml' };
  t.equal(nameFrom({ file: 'a.toml', env, cwd, lookIn }), 'a');
  t.equal(nameFrom({ env, cwd, lookIn }), 'b');
  t.equal(nameFrom({ env: {}, cwd, lookIn }), 'c');
  t.equal(nameFrom({ env: { POSTERN_CONFIG: '' }, cwd, lookIn }), 'c');
});

t.test('no file at all leaves environment and defaults', async t => {
  const cwd = t.testdir({});
  const env = { POSTERN_MAIL_DOMAINS: 'agents.example.com' };
  const result = loadConfig({ env, cwd, lookIn: [join(cwd, 'missing.toml')], facts: FACTS });
  t.match(result, { ok: true, file: null });
});

t.test('a file that was asked for must exist', async t => {
  const cwd = t.testdir({});
  const asked = loadConfig({ file: 'x.toml', env: {}, cwd, lookIn: [], facts: FACTS });
  t.match(asked, { ok: false, problems: [{ where: join(cwd, 'x.toml'), what: 'there is no such file' }] });
  const fromEnvironment = loadConfig({ env: { POSTERN_CONFIG: 'x.toml' }, cwd, lookIn: [], facts: FACTS });
  t.match(fromEnvironment, { ok: false, problems: [{ fix: /POSTERN_CONFIG/ }] });
});

t.test('a file that exists but cannot be used is a problem, not a reason to look further', async t => {
  const cwd = t.testdir({
    folder: {},
    'latin1.toml': Buffer.from([0x23, 0xe9, 0x0a]),
    'good.toml': named('good'),
  });
  const after = (name: string) => [join(cwd, name), join(cwd, 'good.toml')];
  t.equal(nameFrom({ env: {}, cwd, lookIn: after('folder') }), 'cannot be read (EISDIR)');
  t.equal(nameFrom({ env: {}, cwd, lookIn: after('latin1.toml') }), 'is not UTF-8 text');
});

t.test('a byte-order mark does no harm', async t => {
  const cwd = t.testdir({ 'bom.toml': `\ufeff${named('bom')}` });
  t.equal(nameFrom({ file: 'bom.toml', env: {}, cwd }), 'bom');
});
