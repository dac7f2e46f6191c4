import type { Test } from 'tap';
import type { PosternBox } from '../box/postern-box.js';
import { freePort } from '../redis/own-redis.js';
import type { FakeSmarthost } from '../smarthost/fake-smarthost.js';
import { startSmarthostBox } from '../smarthost/smarthost-box.js';

/** A box that gives access to the domain of its humans, and one of them, whose mail is kept elsewhere. */
export interface SignupBox {
  readonly box: PosternBox;
  readonly publicUrl: string;
  readonly human: { readonly address: string };
  /** The address of the link in the next mail that the human gets. */
  readonly nextLink: () => Promise<string>;
}

export async function startSignupBox(
  t: Test,
  options: { readonly publicUrl?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<SignupBox> {
  const port = await freePort();
  const publicUrl = options.publicUrl ?? `http://localhost:${port}`;
  const { box, smarthost } = await startSmarthostBox(t, {
    POSTERN_HTTP_PORT: String(port),
    POSTERN_SERVICE_PUBLIC_URL: publicUrl,
    POSTERN_SIGNUP_POLICY: 'domains',
    POSTERN_SIGNUP_DOMAINS: 'humans.example',
    ...options.env,
  });
  return { box, publicUrl, human: { address: 'ann@humans.example' }, nextLink: linksIn(smarthost) };
}

/** Takes the link out of one mail after the other that the smarthost was given. */
export function linksIn(smarthost: FakeSmarthost): () => Promise<string> {
  let taken = 0;
  return async () => {
    await smarthost.until(() => smarthost.submissions.length > taken);
    const mail = smarthost.submissions[taken++]?.content.toString('latin1') ?? '';
    // Lines of quoted-printable go on behind a `=` (RFC 2045 section 6.7).
    const url = /^(http\S+\/approve\/link\/\S+)\r$/m.exec(mail.replaceAll('=\r\n', ''))?.[1];
    if (url === undefined) throw new Error(`the mail has no link:\n${mail}`);
    return url;
  };
}
