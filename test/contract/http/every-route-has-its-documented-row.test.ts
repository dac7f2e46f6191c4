import t from 'tap';
import { ERRORS, type ErrorCode } from '../../../src/domain/errors.js';
import type { Route } from '../../../src/http/route.js';
import { apiRoutes } from '../../unit/http/with-server.js';
import { withHouse } from '../../unit/usecases/with-house.js';

/**
 * The tables of the wire contract, with what the decisions add: `/trash`, and `invalid_search` of every list for
 * parameters it does not know. J, U, N and I stand for what they stand for there.
 */
interface Row {
  readonly operationId: string;
  readonly route: string;
  /** Body limit in bytes, on operations with a body. */
  readonly limit?: number;
  readonly success: readonly number[];
  readonly errors: string;
}

const ROWS: readonly Row[] = [
  // 1.1 Inboxes
  { operationId: 'listInboxes', route: 'GET /v1/inboxes', success: [200], errors: 'U N I' },
  {
    operationId: 'createInbox',
    route: 'POST /v1/inboxes',
    limit: 4096,
    success: [200, 201],
    errors:
      'invalid_inbox invalid_local_part invalid_name invalid_idempotency_key J U N address_unavailable inbox_limit_reached idempotency_conflict idempotency_result_unavailable I',
  },
  { operationId: 'getInbox', route: 'GET /v1/inboxes/{inbox_id}', success: [200], errors: 'U N I' },
  {
    operationId: 'updateInbox',
    route: 'PATCH /v1/inboxes/{inbox_id}',
    limit: 4096,
    success: [200],
    errors: 'invalid_inbox invalid_name J U N I',
  },
  {
    operationId: 'deleteInbox',
    route: 'DELETE /v1/inboxes/{inbox_id}',
    success: [202],
    errors: 'U operation_not_allowed N protected_inbox I',
  },
  {
    operationId: 'getSendingPolicy',
    route: 'GET /v1/inboxes/{inbox_id}/sending-policy',
    success: [200],
    errors: 'U N I',
  },
  {
    operationId: 'getReceivingPolicy',
    route: 'GET /v1/inboxes/{inbox_id}/receiving-policy',
    success: [200],
    errors: 'U N I',
  },
  // 1.2 Received messages
  {
    operationId: 'listMessages',
    route: 'GET /v1/inboxes/{inbox_id}/messages',
    success: [200],
    errors: 'invalid_limit invalid_cursor invalid_search invalid_labels U N I',
  },
  {
    operationId: 'countMessages',
    route: 'GET /v1/inboxes/{inbox_id}/messages/count',
    success: [200],
    errors: 'invalid_search invalid_labels U N I',
  },
  {
    operationId: 'getMessage',
    route: 'GET /v1/messages/{message_id}',
    success: [200],
    errors: 'U N I content_unavailable',
  },
  {
    operationId: 'deleteMessage',
    route: 'DELETE /v1/messages/{message_id}',
    success: [202],
    errors: 'U operation_not_allowed N I',
  },
  {
    operationId: 'updateMessageLabels',
    route: 'PATCH /v1/messages/{message_id}',
    limit: 20_480,
    success: [200],
    errors: 'invalid_labels J U N I',
  },
  {
    operationId: 'downloadRawMessage',
    route: 'GET /v1/messages/{message_id}/raw',
    success: [200],
    errors: 'U N I content_unavailable',
  },
  {
    operationId: 'downloadAttachment',
    route: 'GET /v1/messages/{message_id}/attachments/{attachment_id}',
    success: [200],
    errors: 'U N I content_unavailable',
  },
  {
    operationId: 'trashMessage',
    route: 'POST /v1/messages/{message_id}/trash',
    success: [200],
    errors: 'U operation_not_allowed N I',
  },
  // 1.3 Labels
  {
    operationId: 'bulkUpdateMessageLabels',
    route: 'PATCH /v1/messages/labels',
    limit: 32_768,
    success: [200],
    errors: 'invalid_labels invalid_message_ids J U N I',
  },
  {
    operationId: 'listLabels',
    route: 'GET /v1/inboxes/{inbox_id}/labels',
    success: [200],
    errors: 'invalid_limit invalid_cursor invalid_search invalid_labels U N I',
  },
  // 1.7 Trash
  {
    operationId: 'listTrash',
    route: 'GET /v1/inboxes/{inbox_id}/trash',
    success: [200],
    errors: 'invalid_limit invalid_cursor invalid_search U N I content_unavailable',
  },
  {
    operationId: 'restoreMessage',
    route: 'POST /v1/messages/{message_id}/restore',
    success: [200],
    errors: 'U operation_not_allowed N I content_unavailable',
  },
];

const SHORT: Record<string, string> = {
  J: 'invalid_json body_too_large unsupported_media_type',
  U: 'unauthorized',
  N: 'not_found',
  I: 'internal_error',
};

const documentedErrors = (row: Row) =>
  row.errors
    .split(' ')
    .flatMap(code => (SHORT[code] ?? code).split(' '))
    .sort();

/** A route names its own; what its key and its body bring follows from its having them. */
const errorsOf = (route: Route) =>
  [
    ...route.errors,
    ...(route.auth === 'bearer' ? ['unauthorized'] : []),
    ...(route.body === undefined ? [] : ['invalid_json', 'body_too_large', 'unsupported_media_type']),
  ].sort();

t.test('operation, path, body limit, successes and errors are those of the table', async t => {
  const routes = apiRoutes(await withHouse(t)).filter(route => route.path.startsWith('/v1/'));
  for (const row of ROWS) {
    const route = routes.find(({ method, path }) => `${method} ${path}` === row.route);
    t.ok(route, `${row.route} is served`);
    if (route === undefined) continue;
    t.equal(route.operationId, row.operationId);
    t.equal(route.auth, 'bearer', row.operationId);
    t.equal(route.body?.limitBytes, row.limit, row.operationId);
    t.strictSame([...route.successes].sort(), row.success, row.operationId);
    t.strictSame(errorsOf(route), documentedErrors(row), row.operationId);
    for (const code of route.errors) t.ok(ERRORS[code as ErrorCode].status >= 400);
  }
  const known = new Set(ROWS.map(row => row.route));
  t.strictSame(
    routes.map(({ method, path }) => `${method} ${path}`).filter(route => !known.has(route)),
    [],
    'nothing is served without a row',
  );
});
