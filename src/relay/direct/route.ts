import type { DnsRecords } from '../../dns/packet.js';

/*
 * How the mail servers of a domain are reached, as `find-route.ts` finds it and `deliver.ts` uses it.
 */

/** What is known of a host before a connection is opened. */
export interface MailHost {
  /** Name of the MX, or the domain itself where it has none; lower case, A-labels, no final dot. */
  readonly name: string;
  readonly preference: number;
  /** In the order in which they are tried; never empty, never of a network that mail must not lead into. */
  readonly addresses: readonly { readonly address: string; readonly family: 4 | 6 }[];
  /**
   * TLSA records that bind its certificate (RFC 7672); null where DANE is not in play. Where none of them is usable,
   * TLS is a must all the same, with any certificate (section 2.2).
   */
  readonly dane: readonly TlsaRecord[] | null;
}

/** RFC 6698 section 2.1. */
export type TlsaRecord = DnsRecords['TLSA'];

/** How sure the connection to a host has to be. */
export type TlsDemand =
  /** STARTTLS where it is offered, with any certificate; plain where there is none or the handshake fails. */
  | 'opportunistic'
  /** STARTTLS or no delivery; any certificate. */
  | 'require'
  /** MTA-STS in force (RFC 8461): a certificate of a known authority for the name of the host. */
  | 'verify';

export type Route =
  /** The hosts in the order in which they are tried: by preference, equal ones in random order. */
  | { readonly kind: 'hosts'; readonly hosts: readonly MailHost[]; readonly tls: TlsDemand }
  /** Nobody takes mail for the domain: final. `code` is an enhanced status code (RFC 3463), `detail` says why. */
  | { readonly kind: 'none'; readonly code: string; readonly detail: string }
  /** It could not be found out now. */
  | { readonly kind: 'later'; readonly code: string; readonly detail: string };

/** Finds the route to a domain, within a deadline of its own. Never rejects. */
export interface RouteFinder {
  find(domain: string): Promise<Route>;
}
