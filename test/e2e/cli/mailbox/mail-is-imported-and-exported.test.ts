import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { localAuthentication } from '../../../../src/domain/authentication.js';
import type { MessageId } from '../../../../src/domain/ids.js';
import { DAY_MS } from '../../../../src/domain/instants.js';
import { putMeta } from '../../../../src/store/engine/meta.js';
import { type FolderCounters, folderCountersTable } from '../../../../src/store/mailbox/folders.js';
import { getMessage, type ReceivedRecord } from '../../../../src/store/mailbox/messages.js';
import { type BlobRef, blobChunksTable } from '../../../../src/store/records/blobs.js';
import { type CliBox, cliBox, DOMAIN } from '../cli-box.js';

interface Import {
  readonly imported: number;
  readonly already_there: number;
  readonly left_out: number;
  readonly faults: readonly { readonly message: number; readonly reason: string }[];
}

async function withInboxes(t: Test): Promise<{ box: CliBox; first: string; second: string }> {
  const box = await cliBox(t);
  await box.json('account', 'create', 'ada@example.org');
  const [first, second] = ['first', 'second'].map(name => `${name}@${DOMAIN}`) as [string, string];
  for (const address of [first, second]) {
    await box.json('inbox', 'create', '--account', 'ada@example.org', address.split('@')[0] as string);
  }
  return { box, first, second };
}

function put(box: CliBox, name: string, text: string): string {
  const file = join(box.folder, name);
  writeFileSync(file, text);
  return file;
}

const letter = (n: number, body = 'Hello.'): string =>
  `From: a@example.net\nTo: b@example.org\nSubject: Letter ${n}\nDate: Sat, 3 Jan 2015 10:00:0${n} +0000\n\n${body}\n`;
const entry = (text: string): string => `From a@example.net Sat Jan  3 10:00:00 2015\n${text}\n`;

async function idsOf(box: CliBox, inbox: string): Promise<string[]> {
  const page = await box.json<{ messages: { id: string }[] }>('message', 'list', inbox, '--order', 'oldest');
  return page.messages.map(({ id }) => id);
}

async function rawsOf(box: CliBox, inbox: string): Promise<string[]> {
  const raws: string[] = [];
  for (const id of await idsOf(box, inbox)) raws.push((await box.run('message', 'raw', id)).out);
  return raws;
}

t.test('an mbox comes in, in its order, and a second run takes nothing twice', async t => {
  const { box, first } = await withInboxes(t);
  const file = put(
    box,
    'old.mbox',
    entry(letter(1)) + entry(letter(2, '>From here\n\nFrom now on.')) + entry(letter(3)),
  );
  t.match(await box.json<Import>('message', 'import', first, file), {
    imported: 3,
    already_there: 0,
    left_out: 0,
  });
  t.same(
    await rawsOf(box, first),
    [letter(1), letter(2, 'From here\n\nFrom now on.'), letter(3)].map(text => text.replaceAll('\n', '\r\n')),
  );
  t.match(await box.json<Import>('message', 'import', first, file), { imported: 0, already_there: 3 });
  const [id = ''] = await idsOf(box, first);
  await box.json('message', 'trash', id);
  t.match(
    await box.json<Import>('message', 'import', first, file),
    { imported: 0, already_there: 3 },
    'in Trash',
  );
  t.match(await box.run('message', 'import', first, file), {
    code: 0,
    out: '0 imported, 3 there already, 0 left out\n',
  });
});

t.test('what is broken is told, and the rest goes on', async t => {
  const { box, first } = await withInboxes(t);
  box.env.POSTERN_SMTP_MAX_MESSAGE_BYTES = '65536';
  const huge = letter(2, 'x'.repeat(70_000));
  const file = put(
    box,
    'old.mbox',
    entry(letter(1)) + entry('this is no message\n') + entry(huge) + entry(letter(3)),
  );
  const result = await box.json<Import>('message', 'import', first, file);
  t.match(result, { imported: 2, left_out: 2 });
  t.match(result.faults, [
    { message: 2, reason: /does not begin with header fields/ },
    { message: 3, reason: /more than smtp\.max_message_bytes/ },
  ]);
  t.equal((await box.run('message', 'import', first, join(box.folder, 'nothing'))).code, 2);
  t.equal((await box.run('message', 'import', `nobody@${DOMAIN}`, file)).code, 4);
});

t.test('where the clock was set back, imported mail has the instant of its import', async t => {
  const { box, first } = await withInboxes(t);
  const id = await box.deliver(first, letter(1));
  const startedAt = Date.now();
  await box.withStore(store =>
    store.write(writer => {
      const { inboxId } = getMessage(writer, id) as ReceivedRecord;
      // A message came while the clock was a year ahead.
      writer.update(folderCountersTable, { inboxId, kind: 'received' }, counters => ({
        ...(counters as FolderCounters),
        lastAt: startedAt + 365 * DAY_MS,
      }));
      const confirmed = { at: startedAt, bootId: '', bootMs: 0 };
      putMeta(writer, 'clock', { confirmed, doubt: null, setBackMs: 365 * DAY_MS });
    }),
  );
  t.match(await box.json<Import>('message', 'import', first, put(box, 'a.eml', letter(2))), { imported: 1 });
  const { messages } = await box.json<{ messages: { received_at: string }[] }>('message', 'list', first);
  const [newest = { received_at: '' }] = messages;
  const at = Date.parse(newest.received_at);
  t.ok(at >= startedAt && at <= Date.now(), newest.received_at);
});

t.test('a file that cannot be opened is a fault of that file', async t => {
  const { box, first } = await withInboxes(t);
  const folder = join(box.folder, 'old');
  mkdirSync(folder);
  put(box, 'old/a.eml', letter(1));
  // It can be looked at, and not be read by anybody.
  mkdirSync(join(folder, 'b.eml'));
  // Nor can this be opened: it is a socket.
  const server = createServer().listen(join(folder, 'c.eml'));
  await once(server, 'listening');
  t.teardown(() => server.close());
  put(box, 'old/d.eml', letter(2));
  const result = await box.json<Import>('message', 'import', first, folder);
  t.match(result, { imported: 2, left_out: 2 });
  t.match(result.faults, [
    { file: join(folder, 'b.eml'), message: 1, reason: /cannot be read: EISDIR/ },
    { file: join(folder, 'c.eml'), message: 1, reason: /cannot be read: ENXIO/ },
  ]);
  const { code, error } = await box.failure('message', 'import', first, join(folder, 'c.eml'));
  t.match({ code, error }, { code: 2, error: { message: /the user who runs this may read/ } });
});

t.test('the sender is that of the header, whatever the text has in it', async t => {
  const { box, first } = await withInboxes(t);
  const [, ...header] = letter(1).split('\n');
  const bounce = 'From: a@example.net\n\nReturn-Path: <other@example.net>\n';
  const returned = `Return-Path: <c@example.net>\n${header.join('\n')}`;
  const file = put(box, 'old.mbox', entry(bounce) + entry(returned));
  t.match(await box.json<Import>('message', 'import', first, file), { imported: 2 });
  const { messages } = await box.json<{ messages: { envelope_from: string }[] }>(
    ...['message', 'list', first, '--order', 'oldest'],
  );
  t.same(
    messages.map(({ envelope_from: from }) => from),
    ['a@example.net', 'c@example.net'],
  );
});

t.test('an import stops where the account is full', async t => {
  const { box, first } = await withInboxes(t);
  box.env.POSTERN_LIMITS_STORAGE_MIB = '1';
  const file = put(
    box,
    'old.mbox',
    [1, 2, 3].map(n => entry(letter(n, `${'x'.repeat(99)}\n`.repeat(5_000)))).join(''),
  );
  const { code, error } = await box.failure('message', 'import', first, file);
  t.equal(code, 1);
  t.match(error, { code: 'import_stopped', message: /2 imported.*stores as much as it may/s });
  box.env.POSTERN_LIMITS_STORAGE_MIB = '100';
  t.match(await box.json<Import>('message', 'import', first, file), { imported: 1, already_there: 2 });
});

t.test('who has written imported mail is not known, and no rule refuses it', async t => {
  const { box, first } = await withInboxes(t);
  await box.json('policy', 'receiving', 'set', first, '--require-authentication');
  t.match(await box.json<Import>('message', 'import', first, put(box, 'a.eml', letter(1))), { imported: 1 });
  const [id = ''] = await idsOf(box, first);
  // Whatever the parser says, and whatever the header claims.
  await box.prepare(id as MessageId, {
    json: Buffer.from('{"text":null}'),
    authentication: localAuthentication('a@example.net'),
  });
  t.match(await box.json<Record<string, unknown>>('message', 'show', id), {
    processing_status: 'ready',
    authentication: { verdict: 'unknown', reason: /imported/, local: false },
  });
  const record = await box.withStore(async store =>
    store.read(reader => getMessage(reader, id as MessageId)),
  );
  t.equal(record?.recheck, null, 'and it is not asked again');
});

for (const format of ['mbox', 'eml'] as const) {
  t.test(`what is exported as ${format} is imported to the byte`, async t => {
    const { box, first, second } = await withInboxes(t);
    const odd = letter(2, 'From here\n>From there\n\n\nFrom me 2026\n');
    const raws = [letter(1), odd, letter(3, 'é ü')].map(text => text.replaceAll('\n', '\r\n'));
    for (const raw of raws) await box.deliver(first, raw);
    const output = join(box.folder, 'out');
    t.match(await box.json('message', 'export', first, '--format', format, '--output', output), {
      exported: 3,
      damaged: 0,
    });
    t.match(await box.json<Import>('message', 'import', second, output), { imported: 3 });
    t.same(await rawsOf(box, second), raws);
    if (format === 'eml') t.equal(readdirSync(output).length, 3);
    else t.equal(statSync(output).mode & 0o777, 0o600);
    t.notOk(readdirSync(box.folder).some(name => name.startsWith('.postern-export')));
  });
}

for (const format of ['mbox', 'eml', 'json'] as const) {
  t.test(`a damaged message is left out of an export as ${format}, whole, and the rest goes on`, async t => {
    const { box, first } = await withInboxes(t);
    await box.deliver(first, letter(1).replaceAll('\n', '\r\n'));
    const long = `${'x'.repeat(98)}\n`.repeat(2_000);
    const damaged = await box.deliver(first, letter(2, long).replaceAll('\n', '\r\n'));
    await box.deliver(first, letter(3).replaceAll('\n', '\r\n'));
    if (format === 'json')
      await box.prepare(damaged, { json: Buffer.from(`{"text":"${'x'.repeat(200_000)}"}`) });
    await box.withStore(store =>
      store.write(writer => {
        const record = getMessage(writer, damaged) as ReceivedRecord;
        const { id } = format === 'json' ? (record.content as BlobRef) : record.raw;
        writer.remove(blobChunksTable, { id, index: 1 });
      }),
    );
    const output = join(box.folder, 'out');
    const { exported, damaged: left } = await box.json<{ exported: number; damaged: number }>(
      ...['message', 'export', first, '--format', format, '--output', output],
    );
    t.same({ exported, left }, { exported: 2, left: 1 });
    const files = format === 'eml' ? readdirSync(output).map(name => join(output, name)) : [output];
    const text = files.map(file => readFileSync(file, 'utf8')).join('');
    t.notMatch(text, /xxx/);
    if (format !== 'json') t.same(text.match(/Letter \d/g), ['Letter 1', 'Letter 3']);
    if (format === 'eml') return;
    const run = await box.run('message', 'export', first, '--format', format);
    t.match(run, {
      code: 0,
      out: text,
      err: 'postern: 1 left out: their bytes cannot be read ("postern verify")\n',
    });
  });
}

t.test('on a terminal no bar is drawn into the mail', async t => {
  const { box, first } = await withInboxes(t);
  await box.deliver(first, letter(1).replaceAll('\n', '\r\n'));
  box.terminals = { stdout: true, stderr: true };
  t.equal((await box.run('message', 'export', first)).err, '');
  t.match((await box.run('message', 'export', first, '--output', join(box.folder, 'out'))).err, /export \[/);
  box.terminals = { stdout: false, stderr: true };
  t.match((await box.run('message', 'export', first)).err, /export \[/);
});

t.test('the drafts of an export follow no link that somebody else has put there', async t => {
  const { box, first } = await withInboxes(t);
  await box.deliver(first, letter(1).replaceAll('\n', '\r\n'));
  const theirs = put(box, 'theirs', 'Theirs.');
  symlinkSync(theirs, join(box.folder, `.postern-export-${process.pid}`));
  await box.json('message', 'export', first, '--output', join(box.folder, 'out'));
  t.equal(readFileSync(theirs, 'utf8'), 'Theirs.');
  t.match(readFileSync(join(box.folder, 'out'), 'utf8'), /Letter 1/);
});

t.test('an export to stdout is an mbox, or JSON line by line', async t => {
  const { box, first } = await withInboxes(t);
  for (const n of [1, 2]) await box.deliver(first, letter(n).replaceAll('\n', '\r\n'));
  const mbox = await box.run('message', 'export', first);
  t.match(mbox.out, /^From sender@example\.net \w{3} \w{3} [ \d]\d [\d:]{8} \d{4}\n/);
  t.equal(mbox.out.match(/^From /gm)?.length, 2);
  const lines = (await box.run('message', 'export', first, '--format', 'json')).out.trimEnd().split('\n');
  t.same(
    lines.map(line => (JSON.parse(line) as { id: string }).id),
    await idsOf(box, first),
  );
  t.equal((await box.run('message', 'export', first, '--format', 'eml')).code, 2);
  const folder = join(box.folder, 'blocked');
  mkdirSync(folder);
  const { error } = await box.failure('message', 'export', first, '--output', folder);
  t.equal(error.code, 'output_failed');
  t.ok(readFileSync(box.configFile).length > 0);
});
