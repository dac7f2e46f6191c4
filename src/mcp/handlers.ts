import { DRAFT_OPERATIONS } from '../contract/drafts.js';
import { INBOX_OPERATIONS } from '../contract/inboxes.js';
import { MAX_EVENT_WAIT_S } from '../contract/limits.js';
import { MESSAGE_OPERATIONS } from '../contract/messages.js';
import type { Operation } from '../contract/operation.js';
import { SENT_OPERATIONS } from '../contract/sent.js';
import { THREAD_OPERATIONS } from '../contract/threads.js';
import { DEFAULT_CHUNK_BYTES, MAX_CHUNK_BYTES, MAX_INLINE_FILE_BYTES } from '../contract/tools/files.js';
import type { ToolName } from '../contract/tools/tool-list.js';
import { TRASH_OPERATIONS } from '../contract/trash.js';
import { listInboxes } from '../usecases/inboxes/inboxes.js';
import { openFile, readPart } from '../usecases/mailbox/read-file.js';
import { openRawMessage } from '../usecases/mailbox/read-message.js';
import type { ByteStream } from '../usecases/shared/contents.js';
import type { McpDeps, ToolCaller } from './deps.js';
import { listWithContent } from './list-with-content.js';
import { LISTED, perform } from './perform.js';
import { readFormat, readId, readInteger, withInclude } from './read-arguments.js';
import type { Bounded, Bounds } from './read-bounded.js';
import { showDraft, showReceived, showSent } from './show-messages.js';
import type { JsonObject } from './values.js';
import { objectsOf } from './values.js';

const KIB = 1024;

/** Base64 of the bytes of files that a result may hold. */
const INLINE_BASE64 = 4 * Math.ceil(MAX_INLINE_FILE_BYTES / 3);

/** Bounds of results: of messages as they are first read, and of all of them. */
const READ: Bounds = { perText: 64 * KIB, texts: 256 * KIB, files: 0 };
const FULL: Bounds = { perText: 512 * KIB, texts: 512 * KIB, files: INLINE_BASE64 };

/**
 * Does what a tool promises. Not an async function where a body may be large: that would hold it until the answer.
 * @param args without unknown ones
 */
export type Handler = (
  deps: McpDeps,
  caller: ToolCaller,
  args: JsonObject,
) => Promise<JsonObject> | JsonObject;

/** A tool that is its operation under another name. */
export function handlerOf(operation: Operation): Handler {
  return (deps, caller, args) => perform(deps, caller, operation, args, LISTED).then(shownAsItIs);
}

function shownAsItIs({ value }: Bounded): JsonObject {
  return value;
}

/** A list whose entries can have previews. */
function listedBy(operation: Operation): Handler {
  return (deps, caller, args) =>
    perform(deps, caller, operation, withInclude(args), LISTED).then(shownAsItIs);
}

/**
 * A tool that shows messages in a format.
 * @param include what the operation adds in full
 */
function shownBy(
  operation: Operation,
  show: (answer: Bounded, isFull: boolean) => JsonObject,
  include?: string,
): Handler {
  return async (deps, caller, { format, ...args }) => {
    const isFull = readFormat({ format });
    const asked = isFull && include !== undefined ? { ...args, include } : args;
    return show(await perform(deps, caller, operation, asked, isFull ? FULL : READ), isFull);
  };
}

/** Moves to Trash, where clients know a deletion from. */
function movedToTrash(operation: Operation, restoredBy: ToolName): Handler {
  return async (deps, caller, args) => {
    const { value } = await perform(deps, caller, operation, args, LISTED);
    const { id, status, restorable_until } = value;
    const message = `The message is in Trash until ${restorable_until}; ${restoredBy} brings it back.`;
    return { id, status, message, restorable_until };
  };
}

const accountOf: Handler = ({ store, limits }, { account }) => {
  const { inbox_limit, inbox_allowance } = listInboxes({ store, limits }, account.id);
  return {
    kind: account.isOperator ? 'operator' : 'agent',
    can_send: account.permissions.send,
    can_delete: account.permissions.delete,
    inbox_limit,
    inbox_allowance,
  };
};

/** The list of received mail, asked for its next message. */
const waitForMessage: Handler = async (deps, caller, { after, wait, ...conditions }) => {
  const args = { ...withInclude(conditions), since: after, wait: wait ?? MAX_EVENT_WAIT_S };
  const { value } = await perform(deps, caller, MESSAGE_OPERATIONS.listMessages, args, LISTED);
  return { message: objectsOf(value.messages)[0] ?? null, next_cursor: value.next_since };
};

const serviceInfo: Handler = ({ service }) => ({
  name: service.name,
  website: service.publicUrl,
  connection: `Model Context Protocol (Streamable HTTP) at ${service.publicUrl}/mcp, and JSON over HTTP as ${service.publicUrl}/openapi.json describes it; both with the header Authorization: Bearer and the key of the account.`,
  description: `${service.name} gives agents mail addresses of their own: it receives, keeps and searches mail, sends, answers and forwards it, and keeps drafts, labels and conversations.`,
});

/** A chunk of a file. */
async function chunkOf(file: ByteStream, args: JsonObject): Promise<JsonObject> {
  const offset = readInteger(args, 'offset', { least: 0, most: Number.MAX_SAFE_INTEGER, absent: 0 });
  const maxBytes = readInteger(args, 'max_bytes', {
    least: 1,
    most: MAX_CHUNK_BYTES,
    absent: DEFAULT_CHUNK_BYTES,
  });
  const { bytes, next } = await readPart(file, offset, maxBytes);
  const content = bytes.toString('base64');
  return { offset, content, encoding: 'base64', next_offset: next, total_bytes: file.size };
}

/** The tools that show less, more or something else than an operation. */
export const HANDLERS: Partial<Record<ToolName, Handler>> = {
  get_service_info: serviceInfo,
  get_account: accountOf,
  list_inboxes: async (deps, caller, args) => {
    const { value } = await perform(deps, caller, INBOX_OPERATIONS.listInboxes, args, LISTED);
    return { ...value, ...(await accountOf(deps, caller, {})) };
  },
  list_messages: listWithContent,
  list_sent: listedBy(SENT_OPERATIONS.listSentMessages),
  list_threads: listedBy(THREAD_OPERATIONS.listThreads),
  get_message: shownBy(
    MESSAGE_OPERATIONS.getMessage,
    (from, isFull) => showReceived(from.value, { isFull, from }),
    'authentication',
  ),
  get_sent_message: shownBy(SENT_OPERATIONS.getSentMessage, (from, isFull) =>
    showSent(from.value, { isFull, from }),
  ),
  get_draft: async (deps, caller, args) => {
    const from = await perform(deps, caller, DRAFT_OPERATIONS.getDraft, args, FULL);
    return showDraft(from.value, from);
  },
  get_thread: shownBy(THREAD_OPERATIONS.getThread, (from, isFull) => {
    const messages = objectsOf(from.value.messages).map(message =>
      message.direction === 'sent'
        ? showSent(message, { isFull, from })
        : showReceived(message, { isFull, from }),
    );
    return { ...from.value, messages };
  }),
  delete_message: movedToTrash(TRASH_OPERATIONS.trashMessage, 'restore_message'),
  delete_sent_message: movedToTrash(TRASH_OPERATIONS.trashSentMessage, 'restore_sent_message'),
  wait_for_message: waitForMessage,
  read_attachment: ({ store }, { account }, args) => {
    const [messageId, attachmentId] = [readId(args, 'message_id'), readId(args, 'attachment_id')];
    return chunkOf(openFile({ store }, { accountId: account.id, messageId, attachmentId }), args);
  },
  read_raw_message: ({ store }, { account }, args) => {
    const messageId = readId(args, 'message_id');
    return chunkOf(openRawMessage({ store }, { accountId: account.id, messageId }), args);
  },
};
