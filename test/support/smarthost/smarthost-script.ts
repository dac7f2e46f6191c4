/** What a fake smarthost does at one step: bytes that it writes, piece by piece, and how it goes on. */
export interface Act {
  readonly pieces: readonly string[];
  readonly ending: 'go on' | 'drop' | 'reset' | 'stall';
  /** It waits for this before it does anything. */
  readonly after?: Promise<unknown>;
}

/** A reply of one line or more, as it stands. */
export function say(...lines: readonly string[]): Act {
  return raw(lines.map(line => `${line}\r\n`).join(''));
}

/** Bytes as they stand; each piece arrives by itself. */
export function raw(...pieces: readonly string[]): Act {
  return { pieces, ending: 'go on' };
}

/** The act, and then the end: of the connection (FIN, RST) or of every answer and every look at the socket. */
export function andThen(act: Act, ending: 'drop' | 'reset' | 'stall'): Act {
  return { ...act, ending };
}

/** The act, once this has come. */
export function onceThat(after: Promise<unknown>, act: Act): Act {
  return { ...act, after };
}

export const drop: Act = { pieces: [], ending: 'drop' };
export const reset: Act = { pieces: [], ending: 'reset' };
export const stall: Act = { pieces: [], ending: 'stall' };

/** Where the dialogue is when a step is asked what to do. */
export interface Cue {
  /** Which connection, from 1 on. */
  readonly session: number;
  /** Which MAIL of the connection, from 1 on; 0 before the first. */
  readonly transaction: number;
  /** Which RCPT of the transaction, from 1 on. */
  readonly recipient: number;
  /** The line as it came. */
  readonly line: string;
}

/** An act, or the choice of one; null is what a good server does. */
export type Step = Act | ((cue: Cue) => Act | null);

/** What the fake does otherwise than a good server. */
export interface Script {
  readonly greeting?: Step;
  readonly ehlo?: Step;
  readonly starttls?: Step;
  /** Behind the 220 to STARTTLS, or first of all with implicit TLS: instead of a handshake. */
  readonly handshake?: Step;
  readonly auth?: Step;
  readonly mail?: Step;
  readonly rcpt?: Step;
  readonly data?: Step;
  /** Once so many bytes of content have come. */
  readonly content?: { readonly afterBytes: number; readonly step: Step };
  /** Behind the final dot. */
  readonly dot?: Step;
  readonly rset?: Step;
  readonly quit?: Step;
}

export interface SmarthostSettings {
  /** Where it listens; 127.0.0.1 and a free port without it. */
  readonly address?: string;
  readonly port?: number;
  readonly security?: 'plain' | 'starttls' | 'implicit';
  /** PEM; needed for TLS. */
  readonly identity?: { readonly key: string; readonly cert: string };
  /** Who may send; without it AUTH is neither offered nor asked for. */
  readonly login?: { readonly user: string; readonly password: string };
  /** Of PLAIN, LOGIN and CRAM-MD5, as EHLO offers them. */
  readonly mechanisms?: readonly string[];
  /** What SIZE says; null: no SIZE. */
  readonly size?: number | null;
}

/** A message whose final dot has come, whatever was answered to it. */
export interface Submission {
  readonly session: number;
  readonly isTls: boolean;
  readonly user: string | null;
  /** As written between the angle brackets. */
  readonly from: string;
  /** What follows the reverse-path, the space included. */
  readonly mailParameters: string;
  readonly recipients: readonly string[];
  /** What came behind 354, the final dot included. */
  readonly wire: Buffer;
  /** The message without transparency dots and final dot. */
  readonly content: Buffer;
}

/** One connection. */
export interface SessionRecord {
  /** Every line outside of the content, as it came. */
  readonly lines: string[];
  /** A line came before the answer to the one before it. */
  hasPipelined: boolean;
  /** Bytes of content of the last message. */
  contentBytes: number;
  isOpen: boolean;
  readonly clientAddress: string;
}
