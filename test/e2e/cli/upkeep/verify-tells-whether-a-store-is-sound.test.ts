import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import t from 'tap';
import { messagesTable } from '../../../../src/store/mailbox/messages.js';
import { type CliBox, cliBox, DOMAIN } from '../cli-box.js';

interface Sound {
  readonly sound: boolean;
  readonly messages: number;
}

async function boxWithMail(t: Test): Promise<{ box: CliBox; damage: () => Promise<void> }> {
  const box = await cliBox(t);
  await box.json('account', 'create', 'ada@example.org');
  await box.json('inbox', 'create', '--account', 'ada@example.org', 'ada');
  const id = await box.deliver(`ada@${DOMAIN}`, 'Subject: one\r\n\r\nHello.\r\n');
  await box.deliver(`ada@${DOMAIN}`, 'Subject: two\r\n\r\nHello again.\r\n');
  const damage = () => box.withStore(store => store.write(writer => writer.remove(messagesTable, id)));
  return { box, damage };
}

t.test('verify says what it has checked of a sound store', async t => {
  const { box } = await boxWithMail(t);
  t.match(await box.json<Sound>('verify'), { sound: true, messages: 2, pending: 2 });
  t.match(await box.json<Sound>('verify', box.dataDir), { sound: true, messages: 2 });
  t.match(await box.json<Sound>('verify', 'data'), { sound: true }, 'from where the command is run');
  t.match((await box.run('verify')).out, /^sound +true$/m);
});

t.test('verify names each fault and exits 1', async t => {
  const { box, damage } = await boxWithMail(t);
  await damage();
  const { code, out, error } = await box.failure('verify');
  t.same([code, out, error.code], [1, '', 'store_damaged']);
  t.match(error.message, /^there without reason: pending parsing of message/m);
  t.match(error, { details: { sound: false, messages: 1, has_more_faults: false } });
  t.match((await box.run('verify')).err, /^there without reason: line of received message number 1/m);
});

t.test('verify works on a copy, which it does not change', async t => {
  const { box, damage } = await boxWithMail(t);
  const copy = join(box.folder, 'copy');
  mkdirSync(copy);
  await box.withStore(store => store.copyTo(copy));
  await damage();
  const before = readFileSync(join(copy, 'data.mdb'));
  t.match(await box.json<Sound>('verify', copy), { sound: true, messages: 2 }, 'the copy, not the store');
  t.ok(readFileSync(join(copy, 'data.mdb')).equals(before));
  t.ok(readdirSync(copy).includes('data.mdb'));
});

t.test('verify tells that there is nothing to verify', async t => {
  const { box } = await boxWithMail(t);
  const { code, error } = await box.failure('verify', join(box.folder, 'nowhere'));
  t.same([code, error.code], [1, 'no_store']);
});
