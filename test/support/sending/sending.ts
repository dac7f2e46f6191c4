import { setTimeout as delay } from 'node:timers/promises';
import type { TestAgent } from '../box/agents.js';
import type { ApiAnswer, ApiClient } from '../box/api-client.js';

/** What `listSentMessages` says of a sent copy. */
export interface SentMessage {
  readonly id: string;
  readonly inbox_id: string;
  readonly created_at: string;
  readonly recipient_count: number;
  readonly status: 'accepted' | 'rejected' | 'unknown';
  readonly provider_message_id: string | null;
  readonly error_code: string | null;
  readonly thread_id: string | null;
  readonly in_reply_to: string | null;
  readonly labels: readonly string[];
}

/** The answer of `sendMessage` and of every other way of sending. */
export interface Receipt {
  readonly limited: false;
  readonly message: SentMessage;
  readonly outcome_persisted: boolean;
  readonly replayed?: boolean;
  readonly idempotency_expires_at?: string;
}

export interface QuotaAnswer {
  readonly allowance: number;
  readonly used: number;
  readonly remaining: number;
  readonly next_capacity_at: string | null;
  readonly next_capacity_amount: number;
}

/** The least that a send needs, and whatever is given over it. */
export function submission(to: string, fields: object = {}): object {
  return { to: [{ address: to }], subject: 'Notes', text: 'Hello', ...fields };
}

export function postSend(agent: TestAgent, body: object): Promise<ApiAnswer> {
  return agent.api.post(`/v1/inboxes/${agent.inboxId}/sent`, body);
}

/** A send that has to come to a receipt. */
export async function send(agent: TestAgent, body: object): Promise<Receipt> {
  const answer = await postSend(agent, body);
  if (answer.status !== 201 && answer.status !== 200) {
    throw new Error(`POST sent: ${answer.status} ${answer.bytes.toString()}`);
  }
  return answer.json<Receipt>();
}

export async function quota(api: ApiClient): Promise<QuotaAnswer> {
  return (await api.get('/v1/outbound/quota')).json<QuotaAnswer>();
}

/** The first received message of an inbox, once it is ready. */
export async function firstReceived(agent: TestAgent): Promise<string> {
  for (;;) {
    const { messages } = await agent.api.page(agent.inboxId);
    const [first] = messages;
    if (first !== undefined) {
      await agent.api.finished(first.id);
      return first.id;
    }
    await delay(15);
  }
}

/** Every sent copy of an inbox, newest first. */
export async function allSent(agent: TestAgent): Promise<SentMessage[]> {
  const all: SentMessage[] = [];
  let cursor: string | null = null;
  do {
    const query: string = cursor === null ? '?limit=100' : `?limit=100&cursor=${cursor}`;
    const page = (await agent.api.get(`/v1/inboxes/${agent.inboxId}/sent${query}`)).json<{
      messages: SentMessage[];
      next_cursor: string | null;
    }>();
    all.push(...page.messages);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return all;
}

/** Resolves when sends that a start took up by itself have come to their end: what is unknown has its reason. */
export async function settledSends(agent: TestAgent): Promise<void> {
  const isOpen = ({ status, error_code }: SentMessage) => status === 'unknown' && error_code === null;
  while ((await allSent(agent)).some(isOpen)) await delay(50);
}
