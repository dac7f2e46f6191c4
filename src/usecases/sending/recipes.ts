import type { FileInput, ForwardInput, ReplyInput, SendInput } from '../../contract/sending.js';
import type { SendReceipt } from '../../contract/sent.js';
import type { AccountId } from '../../domain/ids.js';
import type { OutgoingFile } from '../../domain/message-parts.js';
import { deriveReply, type ReplyScope } from '../../domain/reply.js';
import {
  lengthOfTexts,
  type NormalForward,
  type NormalReply,
  type NormalSubmission,
  normaliseForward,
  normaliseReply,
  normaliseSubmission,
  type Texts,
} from '../../domain/send-input.js';
import { explicitSendIntent, forwardIntent, replyIntent } from '../../domain/send-intent.js';
import { pauseIfLong } from '../../lib/slices.js';
import { addressOf, type InboxRecord } from '../../store/records/inboxes.js';
import { type GivenFilesDeps, locateFiles, readFilesToSend } from '../shared/given-files.js';
import type { Hand } from '../shared/in-hand.js';
import { retryKey } from '../shared/once.js';
import { answerable, findReplyTarget, findSource, readForward, replyTargetOf } from '../shared/sources.js';
import type { Outgoing } from './recipe.js';
import { type SendDeps, submitSend } from './submit-send.js';

/** Who sends from where; the inbox is text from outside. */
export interface Sending {
  readonly accountId: AccountId;
  readonly inboxId: string;
  /** What the request has in memory; absent where one thing is done at a time. */
  readonly hand?: Hand | null;
}

/** A way of sending: how its input is checked, what of it a retry must match, and what it sends. */
interface Way<Input, Normal> {
  readonly normalise: (input: Input) => Normal;
  readonly intent: (inboxId: string, normal: Normal) => string;
  readonly derive: (
    deps: GivenFilesDeps,
    inbox: InboxRecord,
    normal: Normal,
    hand: Hand | null,
  ) => Promise<Outgoing>;
}

type Submittable = Pick<NormalSubmission, 'idempotencyKey' | 'labels'> & Texts;

async function sendBy<Input, Normal extends Submittable>(
  deps: SendDeps,
  way: Way<Input, Normal>,
  input: Input & Sending,
): Promise<SendReceipt> {
  const normal = way.normalise(input);
  const { accountId, inboxId, hand = null } = input;
  const length = lengthOfTexts(normal);
  await pauseIfLong(length);
  const retry = retryKey(accountId, 'send', normal.idempotencyKey, () => way.intent(inboxId, normal));
  await pauseIfLong(length);
  return submitSend(deps, {
    accountId,
    inboxId,
    retry,
    labels: normal.labels,
    hand,
    derive: inbox => way.derive(deps, inbox, normal, hand),
  });
}

/** Sends what the agent has written (`sendMessage`). */
export function sendMessage(deps: SendDeps, input: SendInput & Sending): Promise<SendReceipt> {
  return sendBy(deps, WRITTEN, input);
}

const WRITTEN: Way<SendInput, NormalSubmission> = {
  normalise: normaliseSubmission,
  intent: explicitSendIntent,
  derive: async (deps, inbox, { recipients, subject, text, html, files, inReplyTo }, hand) => {
    const replyTarget = await findReplyTarget(deps.store, inbox, inReplyTo);
    const read = findFiles(deps, inbox, files, { text, html }, hand);
    return { recipients, body: async () => ({ subject, text, html, files: await read(), replyTarget }) };
  },
};

/** Finds the files that come with a message, to be read when its recipients are known to be allowed. */
function findFiles(
  deps: GivenFilesDeps,
  inbox: InboxRecord,
  files: readonly FileInput[],
  texts: { readonly text: string; readonly html: string | null },
  hand: Hand | null,
): () => Promise<OutgoingFile[]> {
  if (files.length === 0) return async () => [];
  const located = deps.store.read(reader => locateFiles(reader, deps.clock, inbox.accountId, files));
  return () => readFilesToSend(deps, located, texts, hand);
}

/** Answers a message to its sender or to everyone (`replyMessage`, `replyAllMessage`). */
export function replyMessage(
  deps: SendDeps,
  scope: ReplyScope,
  input: ReplyInput & Sending,
): Promise<SendReceipt> {
  return sendBy(deps, answer(scope), input);
}

function answer(scope: ReplyScope): Way<ReplyInput, NormalReply> {
  return {
    normalise: normaliseReply,
    intent: (inboxId, reply) => replyIntent(scope, inboxId, reply),
    derive: async (deps, inbox, { messageId, text, html, files }, hand) => {
      const source = await findSource(deps.store, inbox.id, messageId);
      const replyTarget = replyTargetOf(source);
      const { to, cc, subject } = deriveReply(scope, answerable(source), addressOf(inbox));
      const read = findFiles(deps, inbox, files, { text, html }, hand);
      const body = async () => ({ subject, text, html, files: await read(), replyTarget });
      return { recipients: { to, cc, bcc: [] }, body };
    },
  };
}

/** Passes a message on (`forwardMessage`). */
export function forwardMessage(deps: SendDeps, input: ForwardInput & Sending): Promise<SendReceipt> {
  return sendBy(deps, PASSED_ON, input);
}

const PASSED_ON: Way<ForwardInput, NormalForward> = {
  normalise: normaliseForward,
  intent: forwardIntent,
  derive: async (deps, inbox, forward, hand) => {
    const source = await findSource(deps.store, inbox.id, forward.messageId);
    const body = async () => ({
      ...(await readForward(deps.store, source, forward, hand)),
      replyTarget: null,
    });
    return { recipients: forward.recipients, body };
  },
};
