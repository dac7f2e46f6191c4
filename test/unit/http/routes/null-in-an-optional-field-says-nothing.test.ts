import t from 'tap';
import { letter } from '../../usecases/threads/with-threads.js';
import { withServer } from '../with-server.js';

const TO = [{ address: 'ann@x.example', name: null }];

t.test('null in an optional field is the field left out, for the key too', async t => {
  const { house, call } = await withServer(t);
  const inbox = await house.addInbox('agent');
  const post = (path: string, body: object) => call(path, { method: 'POST', body });
  const send = { subject: 'Hi', text: 'Hello', idempotency_key: 'one' };
  const nulls = { cc: null, bcc: null, html: null, attachments: null, in_reply_to: null, labels: null };
  const first = await post(`/v1/inboxes/${inbox}/sent`, { ...send, ...nulls, to: TO });
  t.equal(first.status, 201);
  const again = await post(`/v1/inboxes/${inbox}/sent`, { ...send, to: [{ address: 'ann@x.example' }] });
  t.match(again, { status: 200, json: { replayed: true } });
  t.equal((await post(`/v1/inboxes/${inbox}/sent`, { ...send, to: TO, idempotency_key: null })).status, 201);

  const draft = { subject: null, text: null, to: null, source: null, idempotency_key: 'two' };
  const made = await post(`/v1/inboxes/${inbox}/drafts`, { ...draft, ...nulls });
  t.match(made, { status: 201, json: { subject: '' } });
  t.match(await post(`/v1/inboxes/${inbox}/drafts`, { idempotency_key: 'two' }), {
    status: 200,
    json: { id: made.json.id, replayed: true },
  });
  t.match(
    await post(`/v1/drafts/${made.json.id}/send`, { idempotency_key: null }),
    { status: 400, json: { error: { code: 'invalid_message' } } },
    'it has no recipients yet',
  );
});

t.test('answers, forwards and drafts from a source take null as nothing given', async t => {
  const { house, call } = await withServer(t);
  const inbox = await house.addInbox('agent');
  const content = {
    from: { address: 'ann@x.example', name: '' },
    subject: 'Hi',
    message_id: '<m@x.example>',
  };
  const message_id = await letter(house, inbox, 'm@x.example', [], { content });
  const post = (path: string, body: object) => call(`/v1/inboxes/${inbox}/${path}`, { method: 'POST', body });
  const answer = { message_id, text: 'Thanks', html: null, attachments: null, labels: null };
  t.equal((await post('reply', { ...answer, idempotency_key: null })).status, 201);
  t.equal((await post('reply-all', answer)).status, 201);
  const forward = { message_id, to: TO, cc: null, bcc: null, note: null, include_attachments: null };
  t.equal((await post('forward', { ...forward, labels: null })).status, 201);

  const action = { action: 'forward', message_id, include_attachments: null };
  t.equal((await post('drafts', { source: action, to: null, attachments: null, text: null })).status, 201);
  const reply = await post('drafts', { source: { action: 'reply', message_id }, to: null, subject: null });
  t.match((await call(`/v1/drafts/${reply.json.id}`)).json.content, {
    to: [{ address: 'ann@x.example' }],
    subject: 'Re: Hi',
    in_reply_to: message_id,
  });
  const alone = await post('drafts', { source: { action: 'reply', message_id }, in_reply_to: null });
  t.notHas((await call(`/v1/drafts/${alone.json.id}`)).json.content, { in_reply_to: message_id });
});

t.test('a change of a draft empties what is null', async t => {
  const { house, call } = await withServer(t);
  const inbox = await house.addInbox('agent');
  const list = [{ address: 'ann@x.example' }];
  const file = { filename: 'a', type: 'text/plain', content: 'QQ==' };
  const full = { to: list, cc: list, bcc: list, subject: 'Hi', text: 'Hello', html: '<p>', labels: ['a'] };
  const { json } = await call(`/v1/inboxes/${inbox}/drafts`, {
    method: 'POST',
    body: { ...full, attachments: [file] },
  });
  const nothing = Object.fromEntries(
    [...Object.keys(full), 'attachments', 'in_reply_to'].map(key => [key, null]),
  );
  t.equal((await call(`/v1/drafts/${json.id}`, { method: 'PATCH', body: nothing })).status, 200);
  t.strictSame((await call(`/v1/drafts/${json.id}`)).json.content, {
    to: [],
    cc: [],
    bcc: [],
    subject: '',
    text: '',
    attachments: [],
  });
});

t.test('null in a required field is refused', async t => {
  const { house, call } = await withServer(t);
  const inbox = await house.addInbox('agent');
  const send = { to: [{ address: 'ann@x.example' }], subject: 'Hi', text: 'Hello' };
  for (const body of [
    { ...send, to: null },
    { ...send, to: [null] },
    { ...send, to: [{ address: null }] },
    { ...send, subject: null },
    { ...send, text: null },
    { ...send, labels: [null] },
    { ...send, attachments: [{ filename: null, type: 'a/b', content: '' }] },
    { ...send, unknown: null },
  ]) {
    const answer = await call(`/v1/inboxes/${inbox}/sent`, { method: 'POST', body });
    t.equal(answer.status, 400, JSON.stringify(body));
  }
});
