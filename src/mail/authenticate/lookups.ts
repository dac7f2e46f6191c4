import type { IprevCheck } from '../../domain/authentication.js';

/** What records are asked for, and the form in which mailauth takes them. */
export interface ResolvedRecords {
  TXT: string[];
  A: string;
  AAAA: string;
  MX: { readonly priority: number; readonly exchange: string };
  PTR: string;
}

export type RecordType = keyof ResolvedRecords;

/**
 * The records of a name; never an empty list. Rejects with an error whose `code` is `ENOTFOUND` (no such name),
 * `ENODATA` (no such records), or `ETIMEOUT` where it could not be found out, whatever the reason: of other codes mailauth
 * makes a fault of the domain.
 */
export type Resolve = <Type extends RecordType>(name: string, type: Type) => Promise<ResolvedRecords[Type][]>;

/** What a check asks the DNS; bounded in number and time by whoever implements it. */
export interface Lookups {
  readonly resolve: Resolve;
  /** Forward-confirmed reverse DNS of an address. Never rejects. */
  reverse(address: string): Promise<IprevCheck>;
}

/** The texts of the TXT records of a name, none where there are none; `null` when it could not be found out. */
export async function textsAt(resolve: Resolve, name: string): Promise<readonly string[] | null> {
  try {
    return (await resolve(name, 'TXT')).map(strings => strings.join(''));
  } catch (error) {
    return isAbsence(error) ? [] : null;
  }
}

export function isAbsence(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return code === 'ENOTFOUND' || code === 'ENODATA';
}
