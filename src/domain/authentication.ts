/*
 * Who has really written a message that came in: what SPF (RFC 7208), DKIM (RFC 6376), DMARC (RFC 7489), ARC (RFC 8617)
 * and the reverse DNS of the client say, and the one word that follows.
 */

/**
 * DMARC's answer about the address that the content shows as From: `none` where its domain publishes no policy, `unknown`
 * where it could not be found out or was never looked for.
 */
export type Verdict = 'pass' | 'fail' | 'none' | 'unknown';

/** RFC 8601 section 2.7.2. */
export type SpfResult = 'pass' | 'fail' | 'softfail' | 'neutral' | 'none' | 'temperror' | 'permerror';

/**
 * RFC 8601 section 2.7.1; `policy`: does not count here, whatever it proves (RSA under 1024 bits or over 4096, SHA-1, only
 * a part of the body); `neutral`: the signature cannot be read; `permerror`: there is no key for it.
 */
export type DkimResult = 'pass' | 'fail' | 'neutral' | 'none' | 'policy' | 'temperror' | 'permerror';

/** RFC 7489 section 11.2. */
export type DmarcResult = 'pass' | 'fail' | 'none' | 'temperror' | 'permerror';

export type DmarcPolicy = 'none' | 'quarantine' | 'reject';

export interface SpfCheck {
  readonly result: SpfResult;
  /** Whose record was asked: of the envelope sender, or of the HELO name when that is empty; lower case, A-labels. */
  readonly domain: string | null;
  /** Does it pass for a domain that is aligned with From? */
  readonly aligned: boolean;
}

export interface DkimCheck {
  readonly domain: string;
  readonly selector: string;
  /** As in the signature: `rsa-sha256`, `ed25519-sha256`, .... */
  readonly algorithm: string;
  readonly result: DkimResult;
  /** Is its domain aligned with From, whatever the result? */
  readonly aligned: boolean;
}

export interface DmarcCheck {
  readonly result: DmarcResult;
  /**
   * What the domain asks for, of its subdomains where From is in one; null where it publishes nothing that can be read.
   * The next milder one where it asks for that of a part of its mail, or on trial (`DmarcRecord`).
   * Where From names several, the strictest of those that fail; `reject` where it names more than are read.
   */
  readonly policy: DmarcPolicy | null;
  readonly aligned_by: readonly ('spf' | 'dkim')[];
}

export interface ArcCheck {
  /** RFC 8617 section 4.4; `none` without a chain. */
  readonly result: 'pass' | 'fail' | 'none' | 'temperror';
  /** The domain of the newest seal; null without a chain. */
  readonly sealer: string | null;
  /** The chain passes, and its newest sealer is one that the operator trusts. */
  readonly trusted: boolean;
  /** What the newest sealer says of DMARC where it took the message; null when it does not say. */
  readonly dmarc: DmarcResult | null;
}

/** Forward-confirmed reverse DNS (RFC 8601 section 2.7.3). */
export interface IprevCheck {
  readonly result: 'pass' | 'fail' | 'none' | 'temperror';
  /** The name that was confirmed; null unless it passes. */
  readonly name: string | null;
}

export interface Authentication {
  readonly verdict: Verdict;
  /** Why, in a sentence for humans; printable ASCII of at most 200 characters. */
  readonly reason: string;
  /** True for mail from an inbox of this box, which passes by its own right; nothing else was looked at then. */
  readonly local: boolean;
  /** Domain of the one From address; null where there is not exactly one. */
  readonly from_domain: string | null;
  readonly spf: SpfCheck;
  /** In the order of the message; at most `MAX_SIGNATURES`. */
  readonly dkim: readonly DkimCheck[];
  readonly dmarc: DmarcCheck;
  readonly arc: ArcCheck;
  readonly iprev: IprevCheck;
}

/** Signatures that are looked at, the first ones; a message may have more. */
export const MAX_SIGNATURES = 10;

/** Where a message came from, as the SMTP session told it. */
export interface Origin {
  readonly clientAddress: string;
  readonly helo: string;
  /** Reverse-path; `""` for the null sender. */
  readonly sender: string;
}

/** What is said of a message of which nothing is known. */
export const NOT_CHECKED: Authentication = {
  verdict: 'unknown',
  reason: 'It was not looked for: the message is not ready, or came before this was found out.',
  local: false,
  from_domain: null,
  spf: { result: 'none', domain: null, aligned: false },
  dkim: [],
  dmarc: { result: 'none', policy: null, aligned_by: [] },
  arc: { result: 'none', sealer: null, trusted: false, dmarc: null },
  iprev: { result: 'none', name: null },
};

/** How it is shown of a message. */
export function shownAuthentication(message: {
  readonly authentication?: Authentication | null;
}): Authentication {
  return message.authentication ?? NOT_CHECKED;
}

/** Of mail from an inbox of this box, whose address the service itself has put into From. */
export function localAuthentication(from: string | null): Authentication {
  const domain = from === null ? '' : from.slice(from.lastIndexOf('@') + 1).toLowerCase();
  return {
    ...NOT_CHECKED,
    verdict: 'pass',
    reason: 'It was sent from an inbox of this service.',
    local: true,
    from_domain: domain === '' ? null : domain,
  };
}
