import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';

t.test('what has the name of a secret is left out, and the last line before the end is there', async t => {
  const child = spawnSync(process.execPath, [join(import.meta.dirname, 'children/log-secrets.js')], {
    encoding: 'utf8',
  });
  t.equal(child.signal, 'SIGKILL');
  t.notMatch(child.stdout, 'hunter2');
  const lines = child.stdout
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line));
  t.equal(lines.length, 14);
  for (const line of lines.slice(0, 12)) t.equal((line.inner ?? line).id, 'kept');
  t.match(lines[12], { level: 'error', err: { message: 'broken', stack: String }, msg: 'an error' });
  t.match(lines.at(-1), { level: 'fatal', msg: 'the last line', time: /^\d{4}-.*Z$/ });
});
