import type { Test } from 'tap';
import { createAgent, type TestAgent } from '../box/agents.js';
import { type PosternBox, startBox } from '../box/postern-box.js';
import { freePort } from '../redis/own-redis.js';

const MAILED = /^an approval link was mailed$/;

/** A box that gives access to its own domain, and a human who reads mail in an inbox of it. */
export interface SignupBox {
  readonly box: PosternBox;
  readonly publicUrl: string;
  readonly human: TestAgent;
  /** The address of the link in the next mail that the human gets. */
  readonly nextLink: () => Promise<string>;
}

export async function startSignupBox(
  t: Test,
  options: { readonly publicUrl?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<SignupBox> {
  const port = await freePort();
  const publicUrl = options.publicUrl ?? `http://localhost:${port}`;
  const box = await startBox(t, {
    env: {
      POSTERN_HTTP_PORT: String(port),
      POSTERN_SERVICE_PUBLIC_URL: publicUrl,
      POSTERN_SIGNUP_POLICY: 'domains',
      POSTERN_SIGNUP_DOMAINS: 'example.org',
      ...options.env,
    },
  });
  const human = await createAgent(box, 'human');
  let taken = 0;
  const nextLink = async (): Promise<string> => {
    // The API has no event for new mail; the log has one for what was sent.
    while (box.heard(MAILED).length <= taken) await box.hear(MAILED);
    const oldestFirst = (await human.api.all(human.inboxId)).reverse();
    const { text } = await human.api.content(oldestFirst[taken++]?.id ?? '');
    const url = /^(http\S+\/approve\/link\/\S+)$/m.exec(text ?? '')?.[1];
    if (url === undefined) throw new Error(`the mail has no link:\n${text}`);
    return url;
  };
  return { box, publicUrl, human, nextLink };
}
