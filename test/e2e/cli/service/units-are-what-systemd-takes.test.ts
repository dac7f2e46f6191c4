import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { packageRoot } from '../../../support/box/postern-box.js';

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

t.test(
  'every unit passes systemd-analyze verify',
  { skip: hasSystemd ? false : 'no systemd here' },
  async t => {
    const source = join(packageRoot, 'systemd');
    const folder = mkdtempSync(join(tmpdir(), 'units-'));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    const units = readdirSync(source).filter(name => /\.(service|timer)$/.test(name));
    t.same(units.sort(), ['postern-backup.service', 'postern-backup.timer', 'postern.service']);
    for (const unit of units) {
      // The program is not installed on the machine of the test.
      const text = readFileSync(join(source, unit), 'utf8').replaceAll('/usr/bin/postern', process.execPath);
      writeFileSync(join(folder, unit), text);
    }
    for (const unit of units) {
      const { status, stderr } = spawnSync('systemd-analyze', ['verify', join(folder, unit)], {
        encoding: 'utf8',
      });
      t.same([status, stderr], [0, ''], unit);
    }
  },
);

t.test('the unit of the backup gives arguments that the command takes', t => {
  const unit = readFileSync(join(packageRoot, 'systemd/postern-backup.service'), 'utf8');
  const [, line = ''] = /^ExecStart=\/usr\/bin\/postern (.+)$/m.exec(unit) ?? [];
  const [, settings = ''] = /^Environment=(.+)$/m.exec(unit) ?? [];
  const values = new Map(settings.split(' ').map(one => one.split('=') as [string, string]));
  const words = line
    .split(' ')
    .map(word => word.replace(/\$\{(\w+)\}/, (_all, name) => values.get(name) ?? ''));
  t.match(words, ['--config', '/etc/postern/postern.toml', 'backup', '/var/backups/postern', '--keep', '7']);
  const help = execFileSync(process.execPath, [join(packageRoot, 'bin/postern'), 'backup', '--help'], {
    encoding: 'utf8',
  });
  t.match(help, /--keep <n>/);
  t.end();
});
