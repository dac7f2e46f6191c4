import { DELIVERY_OPERATIONS } from '../../contract/deliveries.js';
import { SENDING_OPERATIONS } from '../../contract/sending.js';
import { SENT_OPERATIONS, type SendReceipt } from '../../contract/sent.js';
import type { Authentication } from '../../domain/authentication.js';
import type { ReplyScope } from '../../domain/reply.js';
import { deleteMessage } from '../../usecases/mailbox/change-messages.js';
import { authenticationOf, getSentDetail } from '../../usecases/mailbox/read-message.js';
import type { SearchDeps } from '../../usecases/search/search-messages.js';
import { listDeliveries } from '../../usecases/sending/list-deliveries.js';
import { getQuota } from '../../usecases/sending/quota.js';
import { forwardMessage, replyMessage, sendMessage } from '../../usecases/sending/recipes.js';
import type { SendDeps } from '../../usecases/sending/submit-send.js';
import { listPage, type PageCache } from '../server/list-page.js';
import { readInclude } from '../server/query.js';
import {
  created,
  inboxOf,
  json,
  jsonBytes,
  messageOf,
  type Reply,
  type RequestOf,
  type Route,
  routes,
} from '../server/route.js';

/** Sending, replying, forwarding, and the outbound quota. */
export function sendingRoutes(send: SendDeps): Route[] {
  const { store, clock, quota } = send;
  // The first four are not async functions: those would hold the request body in memory until the send has its outcome.
  return routes(SENDING_OPERATIONS, {
    sendMessage: request =>
      sendMessage(send, { ...request.body, ...inboxOf(request), hand: request.hand }).then(receiptReply),
    replyMessage: request => answerMessage(send, 'reply', request),
    replyAllMessage: request => answerMessage(send, 'reply-all', request),
    forwardMessage: request =>
      forwardMessage(send, { ...request.body, ...inboxOf(request), hand: request.hand }).then(receiptReply),
    getOutboundQuota: ({ account }) => json(200, getQuota({ store, clock, ...quota }, account)),
  });
}

type ReplyRequest = RequestOf<(typeof SENDING_OPERATIONS)['replyMessage' | 'replyAllMessage']>;

/** Answers a message; tells who has written it, if that is asked for. */
function answerMessage(
  send: SendDeps,
  scope: ReplyScope,
  request: ReplyRequest,
): Promise<Reply<SendReceipt>> {
  const isAsked = readInclude(request.query, 'authentication', 'invalid_message');
  const source = { accountId: request.account.id, messageId: request.body.message_id };
  const sending = replyMessage(send, scope, { ...request.body, ...inboxOf(request), hand: request.hand });
  return sending.then(receipt => {
    const authentication = isAsked ? authenticationOf(send, source) : undefined;
    return receiptReply(authentication === undefined ? receipt : withAuthentication(receipt, authentication));
  });
}

function withAuthentication(receipt: SendReceipt, authentication: Authentication): SendReceipt {
  const { dkim, dmarc, ...rest } = authentication;
  const aligned_by = [...dmarc.aligned_by];
  return { ...receipt, authentication: { ...rest, dkim: [...dkim], dmarc: { ...dmarc, aligned_by } } };
}

/** The answer of every way of sending: 201 for a new attempt, whatever its outcome; 200 for a replay. */
export function receiptReply(receipt: SendReceipt): Reply<SendReceipt> {
  return created(receipt, `/v1/sent/${receipt.message.id}`);
}

export interface SentRouteDeps {
  readonly send: SendDeps;
  readonly search: SearchDeps;
  readonly pages: PageCache;
}

/** Sent copies, and what became of them. */
export function sentRoutes({ send, search, pages }: SentRouteDeps): Route[] {
  const { store, clock } = send;
  const listed = { ...search, pages };
  const deliveries = routes(DELIVERY_OPERATIONS, {
    listDeliveries: request => json(200, listDeliveries({ store }, messageOf(request))),
  });
  const copies = routes(SENT_OPERATIONS, {
    listSentMessages: request => listPage(listed, 'sent', request),
    getSentMessage: request => jsonBytes(getSentDetail({ store }, messageOf(request))),
    deleteSentMessage: async request =>
      json(202, await deleteMessage({ store, clock }, { ...messageOf(request), kind: 'sent' })),
  });
  return [...copies, ...deliveries];
}
