import type { ReceivedContent } from '../../../src/contract/messages.js';
import type { TestAgent } from '../box/agents.js';
import type { ApiAnswer } from '../box/api-client.js';
import type { Receipt } from './sending.js';

/** The ways of sending that are derived from a message. */
export type Helper = 'reply' | 'reply-all' | 'forward';

export function postHelper(agent: TestAgent, helper: Helper, body: object): Promise<ApiAnswer> {
  return agent.api.post(`/v1/inboxes/${agent.inboxId}/${helper}`, body);
}

/** One that has to come to a receipt. */
export async function answer(agent: TestAgent, helper: Helper, body: object): Promise<Receipt> {
  const got = await postHelper(agent, helper, body);
  if (got.status !== 201 && got.status !== 200) {
    throw new Error(`POST ${helper}: ${got.status} ${got.bytes.toString()}`);
  }
  return got.json<Receipt>();
}

/** `submission` in the answer of `getSentMessage`. */
export interface Submission {
  readonly from: object;
  readonly to: readonly { readonly address: string; readonly name?: string }[];
  readonly cc: readonly { readonly address: string; readonly name?: string }[];
  readonly bcc: readonly { readonly address: string; readonly name?: string }[];
  readonly subject: string;
  readonly text: string;
  readonly html?: string;
  readonly attachments: readonly StoredAttachment[];
  readonly headers?: { readonly 'In-Reply-To': string; readonly References: string };
}

export interface StoredAttachment {
  readonly filename: string;
  readonly type: string;
  readonly content: string;
  readonly disposition: 'attachment' | 'inline';
  readonly contentId?: string;
}

/** What was sent, as its saved copy has it. */
export async function submissionOf(agent: TestAgent, sentId: string): Promise<Submission> {
  const got = await agent.api.get(`/v1/sent/${sentId}`);
  if (got.status !== 200) throw new Error(`GET sent: ${got.status} ${got.bytes.toString()}`);
  return got.json<{ submission: Submission }>().submission;
}

/** The message of an inbox that bears the Message-ID of what was sent, once it is ready. */
export async function arrived(
  agent: TestAgent,
  sent: Receipt,
): Promise<{ readonly id: string; readonly content: ReceivedContent }> {
  for (;;) {
    for (const { id, processing_status } of await agent.api.all(agent.inboxId)) {
      if (processing_status === 'failed') continue;
      const content = await agent.api.content(id);
      if (content.message_id === sent.message.provider_message_id) return { id, content };
    }
    await new Promise(resolve => setTimeout(resolve, 15));
  }
}
