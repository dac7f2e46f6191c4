import t from 'tap';
import { withServer } from '../with-server.js';

/** A list of so many of these. */
const many = (count: number, piece: string, head: string, tail: string) =>
  head + `${piece},`.repeat(count - 1) + piece + tail;

const BODY_BYTES = 8_388_608;

t.test('a body full of faults is refused for one of them', async t => {
  const { call, house } = await withServer(t);
  const inbox = await house.addInbox('agent');
  const draft = (await call(`/v1/inboxes/${inbox}/drafts`, { body: {} })).json.id;
  const headers = { 'content-type': 'application/json' };
  const rows: readonly (readonly [string, string, string, string])[] = [
    ['1', '{"to":[', ']}', 'invalid_message'],
    ['{}', '{"to":[', ']}', 'invalid_message'],
    ['{"address":"a@b.c"}', '{"to":[', ']}', 'invalid_message'],
    ['{}', '{"attachments":[', ']}', 'invalid_message'],
    ['1', '{"labels":[', ']}', 'invalid_labels'],
  ];
  const paths = [`/v1/inboxes/${inbox}/drafts`, `/v1/drafts/${draft}`, `/v1/inboxes/${inbox}/sent`];
  for (const [at, [piece, head, tail, code]] of rows.entries()) {
    const path = paths[at % paths.length] ?? '';
    const method = path.endsWith(draft) ? 'PATCH' : 'POST';
    const some = many(4_000, piece, head, tail);
    const got = await call(path, { method, headers, body: some });
    const most = many(Math.floor(BODY_BYTES / (piece.length + 1)) - 20, piece, head, tail);
    t.equal((await call(path, { method, headers, body: most })).json.error.code, 'invalid_json');
    t.same([got.status, got.json.error.code], [400, code], `${path} ${head}${piece}`);
    t.match(got.json.error.message, /has \d+ entries, far too many/);
  }
  const unknown = Array.from({ length: 9_000 }, (_, n) => `"${'k'.repeat(60)}${n}":1`).join();
  for (const path of ['drafts', 'sent', 'reply', 'forward']) {
    const got = await call(`/v1/inboxes/${inbox}/${path}`, { headers, body: `{${unknown}}` });
    t.equal(got.status, 400);
    t.ok(got.bytes.length < 1_000, `${path} answers ${got.bytes.length} bytes`);
  }
  const nested = await call(`/v1/inboxes/${inbox}/drafts`, {
    headers,
    body: `{"to":[{"address":"a@b.example",${unknown}}]}`,
  });
  t.equal(nested.json.error.code, 'invalid_draft');
  t.ok(nested.bytes.length < 1_000);
});

t.test('a list that is a little too long is told so by its own rule', async t => {
  const { call, house } = await withServer(t);
  const inbox = await house.addInbox('agent');
  const to = Array.from({ length: 1_000 }, () => ({ address: 'a@b.example' }));
  const got = await call(`/v1/inboxes/${inbox}/drafts`, { body: { to } });
  t.match(got.json.error, { code: 'invalid_message', message: /\b50\b/ });
  const labels = Array.from({ length: 33 }, (_, n) => `${n}`);
  const labelled = await call(`/v1/inboxes/${inbox}/drafts`, { body: { labels } });
  t.match(labelled.json.error, { code: 'invalid_labels', message: /\b32\b/ });
});
