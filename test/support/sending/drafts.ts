import type { TestAgent } from '../box/agents.js';
import type { ApiAnswer } from '../box/api-client.js';
import type { StoredAttachment } from './correspondence.js';
import type { Receipt } from './sending.js';

/** What `listDrafts` says of a draft, with the members that `createDraft` adds when it has an idempotency key. */
export interface Draft {
  readonly id: string;
  readonly inbox_id: string;
  readonly state: 'draft' | 'submitted';
  readonly subject: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly sent_message_id: string | null;
  readonly replayed?: boolean;
  readonly idempotency_expires_at?: string;
}

/** The answer of `getDraft`. */
export interface DraftDetail extends Draft {
  readonly from: { readonly address: string; readonly name?: string };
  readonly content: {
    readonly to: readonly { readonly address: string; readonly name?: string }[];
    readonly cc: readonly { readonly address: string; readonly name?: string }[];
    readonly bcc: readonly { readonly address: string; readonly name?: string }[];
    readonly subject: string;
    readonly text: string;
    readonly attachments: readonly StoredAttachment[];
    readonly html?: string;
    readonly in_reply_to?: string;
    readonly labels?: readonly string[];
  };
}

export function postDraft(agent: TestAgent, body: object = {}): Promise<ApiAnswer> {
  return agent.api.post(`/v1/inboxes/${agent.inboxId}/drafts`, body);
}

export async function createDraft(agent: TestAgent, body: object = {}): Promise<Draft> {
  return expected(await postDraft(agent, body), 200, 201);
}

export function patchDraft(agent: TestAgent, id: string, body: object): Promise<ApiAnswer> {
  return agent.api.patch(`/v1/drafts/${id}`, body);
}

export async function editDraft(agent: TestAgent, id: string, body: object): Promise<Draft> {
  return expected(await patchDraft(agent, id, body), 200);
}

export async function readDraft(agent: TestAgent, id: string): Promise<DraftDetail> {
  return expected(await agent.api.get(`/v1/drafts/${id}`), 200);
}

export function postDraftSend(agent: TestAgent, id: string, body: object = {}): Promise<ApiAnswer> {
  return agent.api.post(`/v1/drafts/${id}/send`, body);
}

export async function sendDraft(agent: TestAgent, id: string, body: object = {}): Promise<Receipt> {
  return expected(await postDraftSend(agent, id, body), 200, 201);
}

export interface DraftPage {
  readonly drafts: readonly Draft[];
  readonly next_cursor: string | null;
}

export async function listDrafts(agent: TestAgent, query = ''): Promise<DraftPage> {
  return expected(await agent.api.get(`/v1/inboxes/${agent.inboxId}/drafts${query}`), 200);
}

function expected<Body>(answer: ApiAnswer, ...statuses: number[]): Body {
  if (!statuses.includes(answer.status)) throw new Error(`${answer.status} ${answer.bytes.toString()}`);
  return answer.json<Body>();
}
