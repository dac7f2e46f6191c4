import { INBOX_OPERATIONS } from '../contract/inboxes.js';
import { MESSAGE_OPERATIONS } from '../contract/messages.js';
import { LISTED_BODY_LENGTH } from '../contract/tools/messages.js';
import { Refusal, resultOf } from '../domain/errors.js';
import { deriveReply, type ReplySource } from '../domain/reply.js';
import type { McpDeps, ToolCaller } from './deps.js';
import { LISTED, perform } from './perform.js';
import { readFlag, requestOf, withInclude } from './read-arguments.js';
import { type Bounded, type Bounds, readBounded } from './read-bounded.js';
import { wordsOf } from './show-messages.js';
import { isObject, type JsonObject, objectsOf, textOf } from './values.js';

/** Of one message beside others. */
const BESIDE: Bounds = { perText: 4 * LISTED_BODY_LENGTH, texts: 64 * 1024, files: 0 };

/** Contents that are longer are not read for a list: a page has a hundred of them. */
const MAX_READ_BYTES = 2 ** 20;

/** A page of received messages; with `include_content` what they say, their files, and whom an answer would go to. */
export async function listWithContent(
  deps: McpDeps,
  caller: ToolCaller,
  { include_content, ...args }: JsonObject,
): Promise<JsonObject> {
  const hasContent = readFlag({ include_content }, 'include_content');
  const { value } = await perform(deps, caller, MESSAGE_OPERATIONS.listMessages, withInclude(args), LISTED);
  if (!hasContent) return value;
  const { inbox_id } = args;
  const inbox = await perform(deps, caller, INBOX_OPERATIONS.getInbox, { inbox_id }, LISTED);
  const address = textOf(inbox.value.address) ?? '';
  const messages: JsonObject[] = [];
  // One after the other: what is held of each is little, but what is read of it may be much.
  for (const message of objectsOf(value.messages)) {
    messages.push({ ...message, ...(await contentOf(deps, caller, message, address)) });
  }
  return { ...value, messages };
}

async function contentOf(
  deps: McpDeps,
  caller: ToolCaller,
  { id, processing_status }: JsonObject,
  address: string,
): Promise<JsonObject> {
  if (processing_status !== 'ready') return {};
  try {
    const request = requestOf(MESSAGE_OPERATIONS.getMessage, { message_id: id });
    const answer = await deps.operate('getMessage', { ...request, ...caller, hand: null });
    if (answer.kind === 'object' || answer.stream.size > MAX_READ_BYTES) return { body_truncated: true };
    const detail = await readBounded(answer.stream, BESIDE, null);
    const { content } = detail.value;
    return isObject(content) ? shownBeside(content, detail, address) : {};
  } catch (error) {
    // It was deleted since the page was read, or is damaged: the others are shown.
    if (error instanceof Refusal) return {};
    throw error;
  }
}

function shownBeside(content: JsonObject, from: Bounded, address: string): JsonObject {
  const { words, body_source, body_truncated } = wordsOf(content, { from });
  const bodies = Object.entries(words).map(([name, body]) => [name, beginningOf(body)] as const);
  const isCut = bodies.some(([name, body]) => body !== words[name as keyof typeof words]);
  return {
    ...Object.fromEntries(bodies),
    body_source,
    body_truncated: body_truncated || isCut,
    attachments: content.attachments,
    reply: replyTo(content, address),
  };
}

function beginningOf(body: unknown): unknown {
  if (typeof body !== 'string' || body.length <= LISTED_BODY_LENGTH) return body;
  return body.slice(0, LISTED_BODY_LENGTH).toWellFormed();
}

/** Whom `reply_message` and `reply_all_message` would write to; null when they would refuse. */
function replyTo(content: JsonObject, address: string): JsonObject | null {
  // Sound: this is what the operation shows of a ready message, whose header the domain answers.
  const source = { kind: 'received', content } as unknown as ReplySource;
  const one = resultOf(() => deriveReply('reply', source, address));
  if (!one.ok) return null;
  const all = resultOf(() => deriveReply('reply-all', source, address));
  const named = one.value.to.map(({ address }) => address);
  const rest = all.ok ? [...all.value.to, ...all.value.cc].map(({ address }) => address) : [];
  return { to: named, cc: rest.filter(other => !named.includes(other)), subject: one.value.subject };
}
