/** What an authority says of a failure (RFC 8555 section 6.7), or `network` and `protocol` where it said nothing. */
export class AcmeError extends Error {
  override readonly name = 'AcmeError';
  /** The type without its prefix: `rateLimited`, `dns`, `connection`, `unauthorized`, `caa`, `network`. */
  readonly type: string;
  /** How long to wait at least before the next try, when the authority says so. */
  readonly retryAfterMs: number | null;
  /** The name that could not be proved. */
  readonly host: string | null;

  constructor(
    type: string,
    message: string,
    { retryAfterMs = null, host = null }: { retryAfterMs?: number | null; host?: string | null } = {},
  ) {
    super(message);
    this.type = type;
    this.retryAfterMs = retryAfterMs;
    this.host = host;
  }
}

/** A problem document (RFC 9457), as far as it is one. */
export interface Problem {
  readonly type?: unknown;
  readonly detail?: unknown;
  readonly subproblems?: unknown;
}

const PREFIX = 'urn:ietf:params:acme:error:';
const LONGEST_DETAIL = 500;

/** The type of a problem without its prefix; `serverInternal` when it has none. */
export function typeOf({ type }: Problem): string {
  return typeof type === 'string' && type.startsWith(PREFIX) ? type.slice(PREFIX.length) : 'serverInternal';
}

/** What it says, on one line. */
export function detailOf(problem: Problem): string {
  const details = [problem, ...subproblems(problem)].flatMap(({ detail }) =>
    typeof detail === 'string' ? [detail] : [],
  );
  const text = details.join('; ').replace(/\s+/g, ' ').trim();
  return text.length > LONGEST_DETAIL ? `${text.slice(0, LONGEST_DETAIL)}…` : text;
}

function subproblems({ subproblems }: Problem): Problem[] {
  return Array.isArray(subproblems)
    ? subproblems.filter((one): one is Problem => typeof one === 'object' && one !== null).slice(0, 10)
    : [];
}

/** What to do about a failure, as a sentence. */
export function adviceFor({ type, host }: { readonly type: string; readonly host?: string | null }): string {
  const name = host ?? 'the name';
  switch (type) {
    case 'dns':
      return `Let an A or AAAA record of ${name} point to this machine ("postern dns" prints the records), and remove an AAAA record that does not.`;
    case 'connection':
    case 'tls':
      return `The authority reaches ${name} at port 80 only: open that port in firewall and router, and see that the DNS points to this machine.`;
    case 'unauthorized':
    case 'incorrectResponse':
      return `Something else answers for ${name} at port 80: let the DNS point to this machine, or let the proxy there pass /.well-known/acme-challenge/ on to http.port.`;
    case 'rateLimited':
      return 'The authority issues no more for now: wait until then, and try settings with its staging directory.';
    case 'caa':
      return `A CAA record of ${name} allows other authorities only: allow this one, or name another in tls.directory_url.`;
    case 'rejectedIdentifier':
    case 'malformed':
      return 'Check mail.hostname and service.public_url: an authority issues for public names only.';
    case 'userActionRequired':
      return 'The authority wants its new terms to be read: see the address that it names.';
    case 'externalAccountRequired':
      return 'This authority serves only accounts that were opened with it before, which is not supported: name another in tls.directory_url.';
    case 'invalidContact':
    case 'unsupportedContact':
      return 'Correct tls.contact_email, or leave it unset.';
    case 'network':
      return 'See that this machine reaches the authority: its DNS, its firewall, its clock, tls.directory_url.';
    case 'listen':
      return 'Free that port, set tls.acme_port, or set it to 0 and let a proxy pass /.well-known/acme-challenge/ on to http.port.';
    default:
      return 'It is tried again by itself; "postern tls issue" tries now.';
  }
}
