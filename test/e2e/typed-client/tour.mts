import { client, must, until } from './client.mjs';

/** Makes an inbox and tells its address, waits for a message, and does with it what an agent does. */
const inbox = must(
  await client.POST('/v1/inboxes', {
    body: { local_part: 'typed', name: 'Typed', idempotency_key: 'typed-tour' },
  }),
);
const again = await client.POST('/v1/inboxes', {
  body: { local_part: 'typed', name: 'Typed', idempotency_key: 'typed-tour' },
});
console.log(inbox.address);

const inInbox = { path: { inbox_id: inbox.id } };
const message = await until(async () => {
  const { messages } = must(
    await client.GET('/v1/inboxes/{inbox_id}/messages', {
      params: { ...inInbox, query: { limit: 5, labels_none: ['handled', 'spam'] } },
    }),
  );
  return messages.find(one => one.processing_status === 'ready');
});

const inMessage = { params: { path: { message_id: message.id } } };
const detail = must(await client.GET('/v1/messages/{message_id}', inMessage));
// The state tells the types apart: content is there when the message is ready.
const text = detail.processing_status === 'ready' ? detail.content.text : null;
const raw = await client.GET('/v1/messages/{message_id}/raw', { ...inMessage, parseAs: 'arrayBuffer' });

const labelled = must(
  await client.PATCH('/v1/messages/{message_id}', { ...inMessage, body: { add_labels: ['handled'] } }),
);
const { labels } = must(await client.GET('/v1/inboxes/{inbox_id}/labels', { params: inInbox }));
const trashed = must(await client.POST('/v1/messages/{message_id}/trash', inMessage));
const gone = await client.GET('/v1/messages/{message_id}', inMessage);
const trash = must(await client.GET('/v1/inboxes/{inbox_id}/trash', { params: inInbox }));
const restored = must(await client.POST('/v1/messages/{message_id}/restore', inMessage));

console.log(
  JSON.stringify({
    replayed: again.data?.replayed,
    from: message.from,
    text,
    rawBytes: raw.data instanceof ArrayBuffer ? raw.data.byteLength : null,
    labelled: labelled.labels,
    labels,
    trashed: trashed.status,
    gone: gone.error?.error.code,
    inTrash: trash.messages.map(entry => [entry.kind, entry.id === message.id]),
    restored: restored.status,
  }),
);
