import type { Test } from 'tap';
import t from 'tap';
import { ACCEPTED, REFUSED } from '../../../support/sending/scripted-relay.js';
import { type CliBox, cliBox, DOMAIN } from '../cli-box.js';
import { sendFrom } from './cli-sends.js';

const AGENT = `agent@${DOMAIN}`;

interface Page {
  readonly messages: { id: string; status: string }[];
  readonly next_cursor: string | null;
}

async function boxWithInbox(t: Test): Promise<CliBox> {
  const box = await cliBox(t);
  await box.json('account', 'create', 'ada@example.org');
  await box.json('inbox', 'create', '--account', 'ada@example.org', 'agent');
  return box;
}

t.test('a list is newest first, in pages, and says what became of each', async t => {
  const box = await boxWithInbox(t);
  const ids: string[] = [];
  for (const fate of [ACCEPTED, REFUSED, { reservedHoursAgo: 0 }]) {
    ids.unshift(await sendFrom(box, AGENT, fate, { labels: ['b', 'a'], cc: [{ address: 'bob@b.example' }] }));
  }
  const first = await box.json<Page>('sent', 'list', AGENT, '--limit', '2');
  const rest = await box.json<Page>('sent', 'list', AGENT, '--cursor', first.next_cursor!);
  t.equal(rest.next_cursor, null);
  t.match(
    [...first.messages, ...rest.messages],
    [
      { id: ids[0], status: 'unknown', error_code: null, recipient_count: 2, labels: ['a', 'b'] },
      { id: ids[1], status: 'rejected', error_code: 'E_RECIPIENT_REJECTED', provider_message_id: null },
      { id: ids[2], status: 'accepted', provider_message_id: `<${ids[2]}@${DOMAIN}>` },
    ],
  );
  const filtered = await box.json<Page>(
    'sent',
    'list',
    AGENT,
    '--label',
    'a',
    '--recipient',
    'BOB@b.example',
  );
  t.equal(filtered.messages.length, 3);

  const text = await box.run('sent', 'list', AGENT, '--limit', '2');
  t.equal(text.code, 0);
  t.match(text.out, /^ID +CREATED_AT +STATUS +ERROR_CODE +RECIPIENT_COUNT +LABELS\n/);
  t.match(text.out, new RegExp(`^${ids[1]} .* rejected +E_RECIPIENT_REJECTED +2 +a, b$`, 'm'));
  t.match(text.out, `add --cursor ${first.next_cursor}`);
});

t.test('a sent copy is shown with what was sent', async t => {
  const box = await boxWithInbox(t);
  const id = await sendFrom(box, AGENT, ACCEPTED, {
    to: [{ address: 'ann@remote.example', name: 'Ann \u202egnp.exe' }],
    bcc: [{ address: 'eve@b.example' }],
    text: 'First line\nSecond \u001b[2J line\n',
    html: '<p>First</p>',
    attachments: [
      { filename: 'notes.txt', type: 'text/plain', content: Buffer.alloc(2048).toString('base64') },
    ],
  });
  const detail = await box.json<object>('sent', 'show', id);
  t.match(detail, {
    id,
    status: 'accepted',
    submission: {
      from: { address: AGENT },
      bcc: [{ address: 'eve@b.example' }],
      text: 'First line\nSecond \u001b[2J line\n\nSent via Postern',
      attachments: [{ filename: 'notes.txt', disposition: 'attachment' }],
    },
  });
  const { code, out } = await box.run('sent', 'show', id);
  t.equal(code, 0);
  t.match(out, /^status +accepted$/m);
  t.match(out, /^to +Ann \\u\{202e\}gnp\.exe <ann@remote\.example>$/m);
  t.match(out, /^bcc +eve@b\.example$/m);
  t.match(out, 'Second \\x1b[2J line');
  t.match(out, 'Attachment: notes.txt, text/plain, 2.0 KiB');
  t.notMatch(out, /\u001b|\u202e/, 'nothing that was sent steers the terminal');
});

t.test('what is not there, deleted or received is exit code 4', async t => {
  const box = await boxWithInbox(t);
  const received = await box.deliver(AGENT, 'Subject: x\r\n\r\nx\r\n');
  for (const id of ['nonsense', '01900000-0000-7000-8000-000000000000', received]) {
    t.match(await box.failure('sent', 'show', id), {
      code: 4,
      error: { code: 'not_found', message: /postern sent list/ },
    });
  }
  t.match(await box.failure('sent', 'list', `nobody@${DOMAIN}`), { code: 4, error: { code: 'not_found' } });
  const id = await sendFrom(box, AGENT, ACCEPTED);
  await box.json('inbox', 'delete', AGENT);
  t.match(await box.failure('sent', 'show', id), { code: 4 });
});

t.test('a cursor of another list is refused', async t => {
  const box = await boxWithInbox(t);
  t.match(await box.failure('sent', 'list', AGENT, '--cursor', 'nonsense'), {
    code: 1,
    error: { code: 'invalid_cursor' },
  });
});
