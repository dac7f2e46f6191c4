import type { z } from 'zod';
import type { ErrorCode } from '../../domain/errors.js';
import type { ReplyScope } from '../../domain/reply-derivation.js';
import { forwardMessage } from '../../usecases/forward-message.js';
import { replyMessage } from '../../usecases/reply-message.js';
import type { SendDeps } from '../../usecases/submit-send.js';
import type { Route } from '../route.js';
import { ForwardInput, ReplyInput } from '../schemas/sending.js';
import { RECEIPT_RESPONSES, receiptReply, SEND_ERRORS, SEND_FIELD_CODES, SEND_LIMIT } from '../sending.js';

/** Wire contract 1.4: answering and forwarding. */
export function correspondenceRoutes(send: SendDeps): Route[] {
  return [
    replyRoute(send, 'reply', 'replyMessage'),
    replyRoute(send, 'reply-all', 'replyAllMessage'),
    {
      operationId: 'forwardMessage',
      method: 'POST',
      path: '/v1/inboxes/{inbox_id}/forward',
      auth: 'bearer',
      body: bodySpec(ForwardInput),
      tag: 'sending',
      summary: 'Forward a message',
      description:
        'With a note before it, and its files unless they are left out. A new conversation begins with it.',
      responses: RECEIPT_RESPONSES,
      errors: SEND_ERRORS.filter(code => code !== 'reply_headers_unavailable'),
      uncertain: 'outbound_unavailable',
      handle: ({ account, params, body }) => {
        const { message_id, include_attachments, idempotency_key, ...rest } = body as z.infer<
          typeof ForwardInput
        >;
        const sent = forwardMessage(send, {
          ...rest,
          messageId: message_id,
          includeAttachments: include_attachments,
          idempotencyKey: idempotency_key,
          accountId: account.id,
          inboxId: params.inbox_id ?? '',
        });
        return sent.then(receiptReply);
      },
    },
  ];
}

function replyRoute(send: SendDeps, scope: ReplyScope, operationId: string): Route {
  return {
    operationId,
    method: 'POST',
    path: `/v1/inboxes/{inbox_id}/${scope}`,
    auth: 'bearer',
    body: bodySpec(ReplyInput),
    tag: 'sending',
    summary: scope === 'reply' ? 'Answer a message' : 'Answer a message to everyone',
    description: 'Recipients and subject follow from the message; its text is not quoted.',
    responses: RECEIPT_RESPONSES,
    errors: [...SEND_ERRORS, 'reply_recipients_unavailable'],
    uncertain: 'outbound_unavailable',
    handle: ({ account, params, body }) => {
      const { message_id, idempotency_key, ...rest } = body as z.infer<typeof ReplyInput>;
      const sent = replyMessage(send, scope, {
        ...rest,
        messageId: message_id,
        idempotencyKey: idempotency_key,
        accountId: account.id,
        inboxId: params.inbox_id ?? '',
      });
      return sent.then(receiptReply);
    },
  };
}

function bodySpec(schema: z.ZodType) {
  const invalid: ErrorCode = 'invalid_message';
  return { limitBytes: SEND_LIMIT, schema, invalid, fieldCodes: SEND_FIELD_CODES };
}
