import {
  CreateDraft,
  DeletedDraft,
  DraftDetail,
  DraftMetadata,
  DraftPage,
  FirstCreatedDraft,
  ReplayedCreatedDraft,
  SendDraft,
  UpdateDraft,
} from '../../contract/drafts.js';
import { SMALL_BODY_BYTES } from '../../contract/limits.js';
import { FirstDraftReceipt, RecoveredDraftReceipt } from '../../contract/sent.js';
import { refuse } from '../../domain/errors.js';
import type { CursorCodec } from '../../domain/paging.js';
import type { DraftList } from '../../store/records/drafts.js';
import {
  type DraftTarget,
  deleteDraft,
  getDraftDetail,
  listDrafts,
} from '../../usecases/drafts/read-draft.js';
import { createDraft, updateDraft } from '../../usecases/drafts/save-draft.js';
import { sendDraft } from '../../usecases/drafts/send-draft.js';
import type { SendDeps } from '../../usecases/sending/submit-send.js';
import { readLimit } from '../server/query.js';
import { json, type Query, type Reply, type Route, type RouteRequest } from '../server/route.js';
import { receiptReply, SEND_ERRORS, SEND_FIELD_CODES, SEND_LIMIT } from './sending.js';

export interface DraftRouteDeps {
  readonly send: SendDeps;
  readonly cursors: CursorCodec;
}

/** What a bad value of a field answers; a field or source that is not known is `invalid_draft` (wire contract 3.0). */
const FIELD_CODES = {
  ...SEND_FIELD_CODES,
  to: 'invalid_message',
  cc: 'invalid_message',
  bcc: 'invalid_message',
  subject: 'invalid_message',
  text: 'invalid_message',
  html: 'invalid_message',
  attachments: 'invalid_message',
  in_reply_to: 'invalid_message',
} as const;

const SAVE_ERRORS = [
  'invalid_draft',
  'invalid_message',
  'invalid_name',
  'invalid_labels',
  'not_found',
  'message_too_large',
  'content_unavailable',
  'draft_unavailable',
] as const;

/** Wire contract 1.5: drafts. */
export function draftRoutes(deps: DraftRouteDeps): Route[] {
  const { send } = deps;
  const draftPath = '/v1/drafts/{draft_id}';
  return [
    {
      operationId: 'createDraft',
      method: 'POST',
      path: '/v1/inboxes/{inbox_id}/drafts',
      auth: 'bearer',
      body: {
        limitBytes: SEND_LIMIT,
        schema: CreateDraft,
        invalid: 'invalid_draft',
        fieldCodes: FIELD_CODES,
      },
      tag: 'drafts',
      summary: 'Create a draft',
      description:
        'Empty, filled, or prepared from a message that it answers or forwards. It costs no allowance.',
      responses: {
        201: { description: 'The new draft.', schema: FirstCreatedDraft, headers: ['Location'] },
        200: {
          description: 'The draft that the key stands for, as it is now.',
          schema: ReplayedCreatedDraft,
          headers: ['Location'],
        },
      },
      errors: [
        ...SAVE_ERRORS,
        'invalid_idempotency_key',
        'idempotency_conflict',
        'idempotency_result_unavailable',
        'reply_not_ready',
        'reply_recipients_unavailable',
      ],
      uncertain: 'draft_unavailable',
      handle: request => create(send, request),
    },
    {
      operationId: 'listDrafts',
      method: 'GET',
      path: '/v1/inboxes/{inbox_id}/drafts',
      auth: 'bearer',
      query: { names: ['limit', 'cursor', 'state'], invalid: 'invalid_draft' },
      tag: 'drafts',
      summary: 'List drafts',
      description: 'Last created first.',
      responses: { 200: { description: 'A page of drafts.', schema: DraftPage } },
      errors: ['invalid_limit', 'invalid_draft', 'not_found', 'draft_unavailable'],
      uncertain: 'draft_unavailable',
      handle: request => list(deps, request),
    },
    {
      operationId: 'getDraft',
      method: 'GET',
      path: draftPath,
      auth: 'bearer',
      tag: 'drafts',
      summary: 'Get a draft',
      description: 'With its content as saved, before the attribution.',
      responses: { 200: { description: 'The draft.', schema: DraftDetail } },
      errors: ['not_found', 'content_unavailable', 'draft_unavailable'],
      uncertain: 'draft_unavailable',
      handle: async request => {
        const detail = await getDraftDetail(send, draftOf(request));
        return { kind: 'json-bytes', status: 200, stream: detail };
      },
    },
    {
      operationId: 'updateDraft',
      method: 'PATCH',
      path: draftPath,
      auth: 'bearer',
      body: {
        limitBytes: SEND_LIMIT,
        schema: UpdateDraft,
        invalid: 'invalid_draft',
        fieldCodes: FIELD_CODES,
      },
      tag: 'drafts',
      summary: 'Change a draft',
      description: 'Only the fields that are given change; the last write of a field wins.',
      responses: { 200: { description: 'The draft as it is now.', schema: DraftMetadata } },
      errors: [...SAVE_ERRORS, 'draft_busy', 'draft_submitted'],
      uncertain: 'draft_unavailable',
      handle: async request => {
        const change = request.body as UpdateDraft;
        return json(200, await updateDraft(send, { ...change, ...draftOf(request) }));
      },
    },
    {
      operationId: 'deleteDraft',
      method: 'DELETE',
      path: draftPath,
      auth: 'bearer',
      tag: 'drafts',
      summary: 'Delete a draft for good',
      description: 'Submitted or not; its sent copy stays.',
      responses: { 202: { description: 'The draft is out of reach from now on.', schema: DeletedDraft } },
      errors: ['operation_not_allowed', 'not_found', 'draft_unavailable'],
      uncertain: 'draft_unavailable',
      handle: async request => json(202, await deleteDraft(send, draftOf(request))),
    },
    {
      operationId: 'sendDraft',
      method: 'POST',
      path: `${draftPath}/send`,
      auth: 'bearer',
      body: {
        limitBytes: SMALL_BODY_BYTES,
        schema: SendDraft,
        invalid: 'invalid_draft',
        fieldCodes: SEND_FIELD_CODES,
      },
      tag: 'drafts',
      summary: 'Send a draft',
      description: 'What is saved is sent, once: a repeat gives the same attempt back, without end.',
      responses: {
        201: {
          description: 'The attempt that was made; status says what became of it.',
          schema: FirstDraftReceipt,
          headers: ['Location'],
        },
        200: {
          description: 'The attempt that was made before, as it is now.',
          schema: RecoveredDraftReceipt,
          headers: ['Location'],
        },
      },
      errors: [
        ...SEND_ERRORS.filter(code => code !== 'outbound_unavailable'),
        'invalid_draft',
        'draft_busy',
        'draft_result_unavailable',
        'draft_unavailable',
      ],
      uncertain: 'draft_unavailable',
      handle: request => {
        const body = request.body as SendDraft;
        return sendDraft(send, { ...body, ...draftOf(request) }).then(receiptReply);
      },
    },
  ];
}

/** The draft that a request's path names, asked for by its caller. */
function draftOf({ account, params }: RouteRequest): DraftTarget {
  return { accountId: account.id, draftId: params.draft_id ?? '' };
}

async function create(send: SendDeps, { account, params, body }: RouteRequest): Promise<Reply> {
  const created = await createDraft(send, {
    ...(body as CreateDraft),
    accountId: account.id,
    inboxId: params.inbox_id ?? '',
  });
  const status = created.replayed === true ? 200 : 201;
  return json(status, created, { Location: `/v1/drafts/${created.id}` });
}

function list(deps: DraftRouteDeps, { account, params, query }: RouteRequest): Reply {
  const limit = readLimit(query);
  const state = readState(query);
  const page = listDrafts(
    { store: deps.send.store, cursors: deps.cursors },
    {
      accountId: account.id,
      inboxId: params.inbox_id ?? '',
      list: state,
      limit,
      cursor: query.get('cursor') ?? null,
    },
  );
  return json(200, page);
}

function readState(query: Query): DraftList {
  const state = query.get('state') ?? 'draft';
  if (!(state === 'draft' || state === 'submitted' || state === 'all'))
    throw refuse('invalid_draft', 'state must be draft, submitted or all.');
  return state;
}
