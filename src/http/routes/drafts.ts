import { DRAFT_OPERATIONS } from '../../contract/drafts.js';
import { refuse } from '../../domain/errors.js';
import type { CursorCodec } from '../../domain/paging.js';
import type { DraftList } from '../../store/records/drafts.js';
import { deleteDraft, getDraftDetail, listDrafts } from '../../usecases/drafts/read-draft.js';
import { createDraft, updateDraft } from '../../usecases/drafts/save-draft.js';
import { sendDraft } from '../../usecases/drafts/send-draft.js';
import type { SendDeps } from '../../usecases/sending/submit-send.js';
import { readPage } from '../server/query.js';
import {
  created,
  draftOf,
  inboxOf,
  json,
  jsonBytes,
  type Query,
  type Route,
  routes,
} from '../server/route.js';
import { receiptReply } from './sending.js';

export interface DraftRouteDeps {
  readonly send: SendDeps;
  readonly cursors: CursorCodec;
}

export function draftRoutes({ send, cursors }: DraftRouteDeps): Route[] {
  const { store } = send;
  return routes(DRAFT_OPERATIONS, {
    createDraft: async request => {
      const draft = await createDraft(send, { ...request.body, ...inboxOf(request), hand: request.hand });
      return created(draft, `/v1/drafts/${draft.id}`);
    },
    listDrafts: request => {
      const page = readPage(request.query);
      const list = readState(request.query);
      return json(200, listDrafts({ store, cursors }, { ...inboxOf(request), ...page, list }));
    },
    getDraft: async request => jsonBytes(await getDraftDetail(send, draftOf(request))),
    updateDraft: async request =>
      json(200, await updateDraft(send, { ...request.body, ...draftOf(request), hand: request.hand })),
    deleteDraft: async request => json(202, await deleteDraft(send, draftOf(request))),
    sendDraft: request =>
      sendDraft(send, { ...request.body, ...draftOf(request), hand: request.hand }).then(receiptReply),
  });
}

function readState(query: Query<'state'>): DraftList {
  const state = query.get('state') ?? 'draft';
  if (state === 'draft' || state === 'submitted' || state === 'all') return state;
  throw refuse('invalid_draft', 'state must be draft, submitted or all.');
}
