import * as api from './orval.js';

const { API_KEY = '' } = process.env;
const options = { headers: { Authorization: `Bearer ${API_KEY}` } };

/** Says the least that each operation takes: names, labels, keys, limit and order are left out. */
const created = await api.createInbox({ local_part: 'orval' }, options);
if (created.status !== 201) throw new Error(`createInbox: ${created.status}`);
const inbox = created.data;

const listed = await api.listInboxes(options);
if (listed.status !== 200) throw new Error(`listInboxes: ${listed.status}`);

// Its functions send every body as JSON, too.
const bytes = { ...options, method: 'POST', body: new Blob(['Notes.']) };
const upload = (await (await fetch(api.getCreateUploadUrl(), bytes)).json()) as api.Upload;
const attachments = [{ filename: 'notes.txt', type: 'text/plain', upload_id: upload.upload_id }];

const message = { to: [{ address: inbox.address }], subject: 'Hi', text: 'Hello.', attachments };
const receipt = await api.sendMessage(inbox.id, message, options);
if (receipt.status !== 201) throw new Error(`sendMessage: ${receipt.status}`);

const everything = await api.listMessages(inbox.id, undefined, options);
const unhandled = await api.listMessages(inbox.id, { labels_none: ['handled', 'spam'] }, options);
if (everything.status !== 200 || unhandled.status !== 200) throw new Error('listMessages failed');

const [received] = unhandled.data.messages;
if (received === undefined) throw new Error('nothing was received');
const detail = await api.getMessage(received.id, undefined, options);
if (detail.status !== 200) throw new Error(`getMessage: ${detail.status}`);
// Its functions read every answer as JSON: bytes are fetched by hand, at the address that it makes.
const raw: Blob = await (await fetch(api.getDownloadRawMessageUrl(received.id), options)).blob();

console.log(
  JSON.stringify({
    isListed: listed.data.inboxes.some(({ id }) => id === inbox.id),
    unit: listed.data.inbox_allowance.unit,
    uploaded: upload.size,
    status: receipt.data.message.status,
    received: everything.data.messages.map(({ envelope_from }) => envelope_from === inbox.address),
    nextCursor: unhandled.data.next_cursor,
    isWhole: raw.size === detail.data.raw_size,
  }),
);

/** Not for running: a download is bytes. */
export const bytesOf = ({ data }: api.downloadRawMessageResponse200): Blob => data;

/** Not for running: what the compiler must not let through. */
export async function wrong() {
  // @ts-expect-error local_part is missing
  await api.createInbox({ name: 'Nameless' }, options);
  // @ts-expect-error there is no such order
  await api.listMessages(inbox.id, { order: 'random' }, options);
  // @ts-expect-error a message that is sent has a text
  await api.sendMessage(inbox.id, { to: message.to, subject: 'Hi' }, options);
  // @ts-expect-error content is there when the message is ready
  return detail.data.content;
}
