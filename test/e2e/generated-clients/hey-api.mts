import { client } from './hey-api/client.gen.js';
import {
  createInbox,
  createUpload,
  downloadRawMessage,
  getMessage,
  listInboxes,
  listMessages,
  sendMessage,
} from './hey-api/index.js';

const { BASE_URL = '', API_KEY = '' } = process.env;
client.setConfig({ baseUrl: BASE_URL, auth: API_KEY, throwOnError: true });

const throwOnError = true;

/** Says the least that each operation takes: names, labels, keys, limit and order are left out. */
const inbox = (await createInbox({ body: { local_part: 'hey-api' }, throwOnError })).data;
const { inboxes, inbox_allowance } = (await listInboxes({ throwOnError })).data;
const path = { inbox_id: inbox.id };
const { upload_id, size: uploaded } = (await createUpload({ body: new Blob(['Notes.']), throwOnError })).data;
const attachments = [{ filename: 'notes.txt', type: 'text/plain', upload_id }];
const { message: sent } = (
  await sendMessage({
    path,
    body: { to: [{ address: inbox.address }], subject: 'Hi', text: 'Hello.', attachments },
    throwOnError,
  })
).data;
const everything = (await listMessages({ path, throwOnError })).data;
const unhandled = (await listMessages({ path, query: { labels_none: ['handled', 'spam'] }, throwOnError }))
  .data;

const [received] = unhandled.messages;
if (received === undefined) throw new Error('nothing was received');
const inMessage = { path: { message_id: received.id }, throwOnError } as const;
const detail = (await getMessage(inMessage)).data;
const raw = (await downloadRawMessage({ ...inMessage, parseAs: 'blob' })).data;

console.log(
  JSON.stringify({
    isListed: inboxes.some(({ id }) => id === inbox.id),
    unit: inbox_allowance.unit,
    uploaded,
    status: sent.status,
    received: everything.messages.map(message => message.envelope_from === inbox.address),
    nextCursor: unhandled.next_cursor,
    isWhole: raw.size === detail.raw_size,
  }),
);

/** Not for running: what the compiler must not let through. */
export async function wrong() {
  // @ts-expect-error local_part is missing
  await createInbox({ body: { name: 'Nameless' } });
  // @ts-expect-error there is no such order
  await listMessages({ path, query: { order: 'random' } });
  // @ts-expect-error a message that is sent has a text
  await sendMessage({ path, body: { to: [{ address: inbox.address }], subject: 'Hi' } });
  // @ts-expect-error content is there when the message is ready
  return detail.content;
}
