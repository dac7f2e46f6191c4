import t from 'tap';
import { type CliBox, cliBox, DOMAIN } from '../cli-box.js';

const AGENT = `agent@${DOMAIN}`;

interface Page {
  readonly messages: { id: string; processing_status: string }[];
  readonly next_cursor: string | null;
}

async function boxWithInbox(t: Parameters<typeof cliBox>[0]): Promise<CliBox> {
  const box = await cliBox(t);
  await box.json('account', 'create', 'ada@example.org');
  await box.json('inbox', 'create', '--account', 'ada@example.org', 'agent');
  return box;
}

const CONTENT = {
  from: { name: 'Eve', address: 'eve@example.net' },
  sender: null,
  reply_to: [],
  to: [{ name: '', address: AGENT }],
  cc: [],
  bcc: [],
  subject: 'Hello \u001b]0;owned\u0007',
  message_id: '<1@example.net>',
  in_reply_to: null,
  references: null,
  date: '2026-01-02T03:04:05.000Z',
  text: 'First line\r\nSecond \u001b[2J line\r\n',
  html: null,
  attachments: [
    {
      id: '1',
      filename: 'notes.txt',
      size: 2048,
      mime_type: 'text/plain',
      disposition: 'attachment',
      content_id: null,
      related: false,
    },
  ],
};

t.test('a list is newest first, in pages', async t => {
  const box = await boxWithInbox(t);
  const ids: string[] = [];
  for (const subject of ['one', 'two', 'three']) {
    ids.unshift(await box.deliver(AGENT, `Subject: ${subject}\r\n\r\nx\r\n`));
  }
  const first = await box.json<Page>('message', 'list', AGENT, '--limit', '2');
  t.same(Object.keys(first), ['messages', 'next_cursor']);
  t.match(first.messages[0], {
    id: ids[0],
    processing_status: 'pending',
    envelope_from: 'sender@example.net',
  });
  const rest = await box.json<Page>('message', 'list', AGENT, '--cursor', first.next_cursor!);
  t.same(
    [...first.messages, ...rest.messages].map(({ id }) => id),
    ids,
  );
  t.equal(rest.next_cursor, null);

  const text = await box.run('message', 'list', AGENT, '--limit', '2');
  t.match(text.out, /^ID +RECEIVED_AT +STATUS +FROM +SUBJECT +LABELS\n/);
  t.match(text.out, `add --cursor ${first.next_cursor}`);
});

t.test('a cursor of another list is refused', async t => {
  const box = await boxWithInbox(t);
  t.match(await box.failure('message', 'list', AGENT, '--cursor', 'nonsense'), {
    code: 1,
    error: { code: 'invalid_cursor' },
  });
});

t.test('a message that is not ready is shown without content', async t => {
  const box = await boxWithInbox(t);
  const id = await box.deliver(AGENT, 'Subject: x\r\n\r\nx\r\n', '');
  const detail = await box.json<object>('message', 'show', id);
  t.match(detail, { id, processing_status: 'pending', envelope_from: '', raw_size: 17 });
  t.notOk('content' in detail);
  const { out } = await box.run('message', 'show', id);
  t.match(out, /^envelope_from +<>$/m);
  t.match(out, `postern message raw ${id}`);
});

t.test('a ready message is shown with its content', async t => {
  const box = await boxWithInbox(t);
  const id = await box.deliver(AGENT, 'Subject: x\r\n\r\nx\r\n');
  await box.prepare(id, {
    json: Buffer.from(JSON.stringify(CONTENT)),
    subject: CONTENT.subject,
    from: CONTENT.from,
  });
  t.match(await box.json<object>('message', 'show', id), {
    id,
    processing_status: 'ready',
    content: CONTENT,
  });

  const { code, out } = await box.run('message', 'show', id);
  t.equal(code, 0);
  t.match(out, /^from +Eve <eve@example\.net>$/m);
  t.match(out, /^subject +Hello \\x1b\]0;owned\\x07$/m);
  t.match(out, '\nFirst line\nSecond \\x1b[2J line\n');
  t.match(out, /notes\.txt +text\/plain +2\.0 KiB/);
  t.notMatch(out, '\u001b', 'a sender cannot steer the terminal');
  t.match((await box.run('message', 'list', AGENT)).out, /ready +Eve <eve@example\.net> +Hello/);
});

t.test('messages and inboxes that are not there are exit code 4', async t => {
  const box = await boxWithInbox(t);
  const id = '01900000-0000-7000-8000-000000000000';
  t.match(await box.failure('message', 'list', `nobody@${DOMAIN}`), {
    code: 4,
    error: { code: 'not_found' },
  });
  t.match(await box.failure('message', 'show', id), { code: 4, error: { code: 'not_found' } });
  t.match(await box.failure('message', 'raw', 'nonsense'), { code: 4, error: { code: 'not_found' } });
});

t.test('mail of a deleted inbox is gone at once', async t => {
  const box = await boxWithInbox(t);
  const id = await box.deliver(AGENT, 'Subject: x\r\n\r\nx\r\n');
  await box.json('inbox', 'delete', AGENT);
  t.match(await box.failure('message', 'show', id), { code: 4 });
});
