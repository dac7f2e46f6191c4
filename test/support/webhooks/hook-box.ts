import type { Test } from 'tap';
import type { WebhookWithSecret } from '../../../src/contract/webhooks.js';
import type { Account } from '../box/agents.js';
import { PosternBox } from '../box/postern-box.js';

/** Settings with which endpoints may be on this machine. */
export const HOOKS_HERE = {
  POSTERN_WEBHOOKS_ALLOW_HTTP: 'true',
  POSTERN_WEBHOOKS_ALLOW_NETWORKS: '127.0.0.1',
} as const;

/** A box whose webhooks may lead to this machine. */
export async function startHookBox(t: Test, env: Readonly<Record<string, string>> = {}): Promise<PosternBox> {
  const box = PosternBox.create(t, { env: { ...HOOKS_HERE, ...env } });
  await box.start();
  return box;
}

/** Makes a webhook through the API. */
export async function createWebhook(
  { api }: Account,
  url: string,
  choice: { readonly types?: readonly string[]; readonly inbox_ids?: readonly string[] } = {},
): Promise<WebhookWithSecret> {
  const made = await api.post('/v1/webhooks', { url, ...choice });
  if (made.status !== 201) throw new Error(`POST webhook: ${made.status} ${made.bytes.toString()}`);
  return made.json<WebhookWithSecret>();
}
