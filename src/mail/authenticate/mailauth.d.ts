/**
 * What we use of mailauth beyond its documentation to check mail. `test/contract/verifier-library` fails when a new
 * version changes it.
 */

declare module 'mailauth/lib/spf/index.js' {
  /** Never rejects but for faults of its own. An error of the resolver may have `spfResult`, which it then answers. */
  export function spf(options: {
    readonly sender: string;
    readonly ip: string;
    readonly helo: string;
    readonly mta: string;
    readonly resolver: import('./lookups.js').Resolve;
  }): Promise<{ readonly status: { readonly result: string } }>;
}

declare module 'mailauth/lib/dkim/dkim-verifier.js' {
  export class DkimVerifier {
    constructor(options: { readonly sender: string });
    /** Takes a header, of which `parsed` is enough. */
    messageHeaders(headers: {
      readonly parsed: readonly { readonly key: string; readonly line: Buffer }[];
    }): Promise<void>;
    /** Every address in From that it has read. */
    readonly headerFrom: readonly string[];
  }
}
