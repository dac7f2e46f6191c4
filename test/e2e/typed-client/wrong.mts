import { client } from './client.mjs';

/** What a compiler must not let through: each line that says so, and no other. */
await client.GET('/v1/inbox'); // wrong: no such path
await client.PUT('/v1/inboxes'); // wrong: no such method
await client.POST('/v1/inboxes', { body: { name: 'Nameless' } }); // wrong: local_part is missing
await client.POST('/v1/inboxes', { body: { local_part: 7 } }); // wrong: it is a string

const params = { path: { message_id: 'x' } };
await client.PATCH('/v1/messages/{message_id}', { params, body: { add_labels: 'a' } }); // wrong: it is a list
const { data, error } = await client.GET('/v1/messages/{message_id}', { params });
console.log(data?.id, error?.error.code);
console.log(data?.preview); // wrong: there is none
if (data?.processing_status === 'failed') console.log(data.content); // wrong: only of a ready message
if (data?.processing_status === 'done') console.log(data.id); // wrong: no such state
