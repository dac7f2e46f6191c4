import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

const file = join(import.meta.dirname, '../../../../config/redis.conf');
const lines = readFileSync(file, 'utf8').split('\n');
const directives = new Map(
  lines
    .filter(line => line !== '' && !line.startsWith('#'))
    .map(line => {
      const space = line.indexOf(' ');
      return [line.slice(0, space), line.slice(space + 1)];
    }),
);

t.test('it listens on no port, drops no key, and keeps an append-only file', async t => {
  t.equal(directives.get('port'), '0');
  t.equal(directives.get('maxmemory-policy'), 'noeviction');
  t.equal(directives.get('appendonly'), 'yes');
  t.equal(directives.get('appendfsync'), 'everysec');
  t.equal(directives.get('save'), '""');
  t.equal(directives.get('daemonize'), 'no');
});

t.test('what depends on the data folder is left to the daemon', async t => {
  for (const name of ['unixsocket', 'dir', 'logfile']) t.notOk(directives.has(name), name);
});

t.test('each group of directives says why', async t => {
  const groups = lines.join('\n').trim().split('\n\n').slice(1);
  for (const group of groups) t.match(group, /^# /);
});
