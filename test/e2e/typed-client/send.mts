import { client, must } from './client.mjs';

/** Sends a message from an inbox to itself and reads the saved copy. */
const { inboxes } = must(await client.GET('/v1/inboxes'));
const [inbox] = inboxes;
if (inbox === undefined) throw new Error('there is no inbox');

const receipt = must(
  await client.POST('/v1/inboxes/{inbox_id}/sent', {
    params: { path: { inbox_id: inbox.id } },
    body: { to: [{ address: inbox.address, name: 'Myself' }], subject: 'Typed', text: 'Hello.' },
  }),
);
const copy = must(
  await client.GET('/v1/sent/{message_id}', { params: { path: { message_id: receipt.message.id } } }),
);
console.log(
  JSON.stringify({
    status: receipt.message.status,
    to: copy.submission.to,
    subject: copy.submission.subject,
  }),
);
