import { randomBytes } from 'node:crypto';
import t from 'tap';
import { cliBox, DOMAIN } from '../cli-box.js';

t.test('raw gives the bytes as they came, whatever they are, with --json or without', async t => {
  const box = await cliBox(t);
  await box.json('account', 'create', 'ada@example.org');
  await box.json('inbox', 'create', '--account', 'ada@example.org', 'agent');
  // One in a single chunk, one in many.
  for (const size of [300, 300_000]) {
    const raw = Buffer.concat([Buffer.from('Subject: \xff\r\n\r\n', 'latin1'), randomBytes(size)]);
    const id = await box.deliver(`agent@${DOMAIN}`, raw);
    for (const format of [[], ['--json']]) {
      const run = await box.run('message', 'raw', id, ...format);
      t.equal(run.code, 0, run.err);
      t.ok(run.stdout.equals(raw), `${size} bytes`);
      t.equal(run.err, '');
    }
  }
});
