import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { writeTo } from '../../../../src/cli/output.js';
import { cliBox } from '../cli-box.js';

const script = join(import.meta.dirname, '../cli-process.js');
const hasFullDevice = existsSync('/dev/full');

t.test('output that cannot be written is exit code 1, without a stack', { skip: !hasFullDevice }, async t => {
  const box = await cliBox(t);
  const command = `exec "$0" ${script} --config ${box.configFile} account list >/dev/full`;
  const { code, err } = await new Promise<{ code: unknown; err: string }>(resolve =>
    execFile('sh', ['-c', command, process.execPath], (error, _out, stderr) =>
      resolve({ code: error?.code ?? 0, err: stderr }),
    ),
  );
  t.equal(code, 1);
  t.match(err, /^postern: the output cannot be written: ENOSPC[^\n]+\n$/);
});

t.test('a file gets texts and bytes as they are', async t => {
  const box = await cliBox(t, { isInitialised: false });
  const file = join(box.folder, 'out');
  const stream = createWriteStream(file);
  await once(stream, 'open');
  const write = writeTo(stream as typeof stream & { fd: number });
  await write('größer ');
  await write(Buffer.of(0xff, 0, 10));
  t.same(readFileSync(file), Buffer.concat([Buffer.from('größer '), Buffer.of(0xff, 0, 10)]));
  stream.destroy();
});
