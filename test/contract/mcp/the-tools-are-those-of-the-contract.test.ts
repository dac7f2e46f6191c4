import t from 'tap';
import { listTools } from '../../../src/contract/tools/tool-list.js';

/*
 * The tools as clients of the contract know them: names, annotations (RO readOnlyHint, ID idempotentHint, D
 * destructiveHint, OW openWorldHint) and arguments (those with * may be left out). Written down by themselves: nothing
 * here is taken from the code. Tools may take more than stands here, if it may be left out.
 */

const SEARCH = 'query* from* recipient* subject* after* before* labels_all* labels_any* labels_none*';
const SEARCHED_PAGE = `${SEARCH} order* limit* cursor*`;
const FIELDS = 'to* cc* bcc* subject* text* html* attachments* in_reply_to* labels*';
const REPLY = 'inbox_id message_id text html* attachments* labels* idempotency_key*';

const ROWS: readonly (readonly [name: string, annotations: string, args: string])[] = [
  ['get_service_info', 'RO ID', ''],
  ['get_account', 'RO ID', ''],
  ['list_inboxes', 'RO ID', ''],
  ['create_inbox', '', 'local_part name* sender_name* idempotency_key*'],
  ['get_inbox', 'RO ID', 'inbox_id'],
  ['update_inbox', 'ID', 'inbox_id name* sender_name*'],
  ['delete_inbox', 'D ID', 'inbox_id'],
  ['get_sending_policy', 'RO ID', 'inbox_id'],
  ['get_receiving_policy', 'RO ID', 'inbox_id'],
  ['list_messages', 'RO ID', `inbox_id ${SEARCHED_PAGE} include_content*`],
  ['count_messages', 'RO ID', `inbox_id ${SEARCH}`],
  ['get_message', 'RO ID', 'message_id format*'],
  ['delete_message', 'D ID', 'message_id'],
  ['restore_message', 'ID', 'message_id'],
  ['read_attachment', 'RO ID', 'message_id attachment_id offset* max_bytes*'],
  ['read_raw_message', 'RO ID', 'message_id offset* max_bytes*'],
  ['update_message_labels', 'ID', 'message_id add_labels* remove_labels*'],
  ['bulk_update_message_labels', 'ID', 'message_ids add_labels* remove_labels*'],
  ['list_labels', 'RO ID', 'inbox_id prefix* limit* cursor*'],
  [
    'send_message',
    'D OW',
    'inbox_id to subject text cc* bcc* html* attachments* in_reply_to* labels* idempotency_key*',
  ],
  ['reply_message', 'D OW', REPLY],
  ['reply_all_message', 'D OW', REPLY],
  [
    'forward_message',
    'D OW',
    'inbox_id message_id to cc* bcc* note* include_attachments* labels* idempotency_key*',
  ],
  ['get_outbound_quota', 'RO ID', ''],
  ['list_sent', 'RO ID', `inbox_id ${SEARCHED_PAGE}`],
  ['get_sent_message', 'RO ID', 'message_id format*'],
  ['delete_sent_message', 'D ID', 'message_id'],
  ['restore_sent_message', 'ID', 'message_id'],
  ['update_sent_message_labels', 'ID', 'message_id add_labels* remove_labels*'],
  ['bulk_update_sent_message_labels', 'ID', 'message_ids add_labels* remove_labels*'],
  ['list_trash', 'RO ID', 'inbox_id limit* cursor*'],
  ['create_draft', '', `inbox_id ${FIELDS} source* idempotency_key*`],
  ['list_drafts', 'RO ID', 'inbox_id state* limit* cursor*'],
  ['get_draft', 'RO ID', 'draft_id'],
  ['update_draft', '', `draft_id ${FIELDS}`],
  ['delete_draft', 'D ID', 'draft_id'],
  ['send_draft', 'D ID', 'draft_id idempotency_key*'],
  ['list_threads', 'RO ID', `inbox_id ${SEARCHED_PAGE}`],
  ['get_thread', 'RO ID', 'thread_id limit* cursor* format*'],
  ['update_thread_labels', '', 'thread_id add_labels* remove_labels*'],
  ['delete_thread', 'D', 'thread_id'],
  ['submit_feedback', 'D OW', 'body title*'],
];

/** Tools of ours beside these. */
const OURS: typeof ROWS = [
  [
    'wait_for_message',
    'RO ID',
    'inbox_id query* from* recipient* subject* labels_all* labels_any* labels_none* after* wait* include_preview*',
  ],
  ['list_events', 'RO ID', 'after* limit* wait* types* inbox_id*'],
  ['list_deliveries', 'RO ID', 'message_id'],
  ['create_upload', '', 'content'],
  ['delete_upload', 'D ID', 'upload_id'],
  ['erase_message', 'D ID', 'message_id'],
  ['erase_sent_message', 'D ID', 'message_id'],
];

const HINTS: Readonly<Record<string, string>> = {
  RO: 'readOnlyHint',
  ID: 'idempotentHint',
  D: 'destructiveHint',
  OW: 'openWorldHint',
};

interface InputSchema {
  readonly properties: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
  readonly additionalProperties: boolean;
}

const listed = new Map(listTools(true).map(tool => [tool.name as string, tool]));
const words = (text: string): string[] => text.split(' ').filter(word => word !== '');

t.test('there are these tools and no others', async t => {
  t.equal(ROWS.length, 42);
  t.strictSame([...listed.keys()].sort(), [...ROWS, ...OURS].map(([name]) => name).sort());
});

for (const [name, annotations, args] of [...ROWS, ...OURS]) {
  t.test(name, async t => {
    const tool = listed.get(name)!;
    const hints = words(annotations).map(word => [HINTS[word], true]);
    t.strictSame(tool.annotations, Object.fromEntries(hints));
    const { properties, required = [], additionalProperties } = tool.inputSchema as unknown as InputSchema;
    t.strictSame(
      [...required].sort(),
      words(args)
        .filter(word => !word.endsWith('*'))
        .sort(),
    );
    const known = words(args).map(word => word.replace('*', ''));
    t.strictSame(
      known.filter(word => !(word in properties)),
      [],
    );
    t.equal(additionalProperties, false);
  });
}

t.test('schemas stand by themselves, and say what each argument is', async t => {
  for (const { name, inputSchema, outputSchema, description, title } of listed.values()) {
    t.notMatch(JSON.stringify([inputSchema, outputSchema]), /"\$ref"|"\$defs"|"x-[a-z-]+":/, name);
    t.strictSame([inputSchema.type, outputSchema.type], ['object', 'object'], name);
    t.ok(title.length > 3 && description.length > 10, name);
  }
});

t.test('tools that delete for good are there only where they are allowed', async t => {
  const names = listTools(false).map(tool => tool.name);
  t.strictSame(
    [...listed.keys()].filter(name => !names.some(other => other === name)),
    ['erase_message', 'erase_sent_message'],
  );
});
