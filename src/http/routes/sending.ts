import { DELIVERY_OPERATIONS } from '../../contract/deliveries.js';
import { SENDING_OPERATIONS } from '../../contract/sending.js';
import { SENT_OPERATIONS, type SendReceipt } from '../../contract/sent.js';
import type { CursorCodec } from '../../domain/paging.js';
import { deleteMessage } from '../../usecases/mailbox/change-messages.js';
import { getSentDetail } from '../../usecases/mailbox/read-message.js';
import { listDeliveries } from '../../usecases/sending/list-deliveries.js';
import { getQuota } from '../../usecases/sending/quota.js';
import { forwardMessage, replyMessage, sendMessage } from '../../usecases/sending/recipes.js';
import type { SendDeps } from '../../usecases/sending/submit-send.js';
import { listPage, type PageCache } from '../server/list-page.js';
import {
  created,
  inboxOf,
  json,
  jsonBytes,
  messageOf,
  type Reply,
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
    replyMessage: request =>
      replyMessage(send, 'reply', { ...request.body, ...inboxOf(request), hand: request.hand }).then(
        receiptReply,
      ),
    replyAllMessage: request =>
      replyMessage(send, 'reply-all', { ...request.body, ...inboxOf(request), hand: request.hand }).then(
        receiptReply,
      ),
    forwardMessage: request =>
      forwardMessage(send, { ...request.body, ...inboxOf(request), hand: request.hand }).then(receiptReply),
    getOutboundQuota: ({ account }) => json(200, getQuota({ store, clock, ...quota }, account)),
  });
}

/** The answer of every way of sending: 201 for a new attempt, whatever its outcome; 200 for a replay. */
export function receiptReply(receipt: SendReceipt): Reply<SendReceipt> {
  return created(receipt, `/v1/sent/${receipt.message.id}`);
}

export interface SentRouteDeps {
  readonly send: SendDeps;
  readonly cursors: CursorCodec;
  readonly pages: PageCache;
}

/** Sent copies, and what became of them. */
export function sentRoutes({ send, cursors, pages }: SentRouteDeps): Route[] {
  const { store, clock } = send;
  const deliveries = routes(DELIVERY_OPERATIONS, {
    listDeliveries: request => json(200, listDeliveries({ store }, messageOf(request))),
  });
  const copies = routes(SENT_OPERATIONS, {
    listSentMessages: request => listPage({ store, cursors, pages }, 'sent', request),
    getSentMessage: request => jsonBytes(getSentDetail({ store }, messageOf(request))),
    deleteSentMessage: async request =>
      json(202, await deleteMessage({ store, clock }, { ...messageOf(request), kind: 'sent' })),
  });
  return [...copies, ...deliveries];
}
