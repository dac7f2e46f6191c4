/**
 * What we use of mailauth beyond its documentation; it has no types of its own for these.
 * `test/contract/signer-library` fails when a new version changes them.
 */

declare module 'mailauth/lib/tools.js' {
  /** A field of a header as it stands, without the end of its last line. */
  export interface HeaderField {
    /** The name in lower case. */
    readonly key: string;
    /** The name as it stands. */
    readonly casedKey: string;
    readonly line: Buffer;
  }

  /** Takes a header apart, with or without the empty line behind it. */
  export function parseHeaders(header: Buffer): { readonly parsed: readonly HeaderField[] };

  /** A whole field without the end of its last line, folded where it has spaces. */
  export function formatSignatureHeaderLine(type: 'DKIM', tags: object, folded: boolean): string;
}

declare module 'mailauth/lib/dkim/header/index.js' {
  import type { HeaderField } from 'mailauth/lib/tools.js';

  /** What is signed, and the tags of the signature's field, all but `b`. */
  export function generateCanonicalizedHeader(
    type: 'DKIM',
    /** `keys` is what the tag `h` will say; `headers` are the fields that there are, in that order. */
    signed: { readonly keys: string; readonly headers: readonly HeaderField[] },
    options: {
      readonly algorithm: string;
      readonly canonicalization: string;
      readonly selector: string;
      readonly signingDomain: string;
      readonly bodyHash: string;
      readonly signTime: Date;
    },
  ): { readonly canonicalizedHeader: Buffer; readonly dkimHeaderOpts: object };
}

declare module 'mailauth/lib/dkim/body/index.js' {
  /** Hash of a body in one of the two forms; tests compare it with ours. */
  export function dkimBody(
    canonicalization: 'relaxed',
    algorithm: 'sha256',
    maxLength: false,
  ): { update(piece: Buffer): void; digest(encoding: 'base64'): string };
}
