import { createHash, createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { validityOf } from '../lib/certificates.js';
import { privateFolder, writePrivateFile } from '../store/private-files.js';
import { keyToPem, newKey } from './certificate-request.js';

/** What an authority has issued, with its key: one file, so that no reader ever finds two that do not match. */
const CERTIFICATE = 'certificate.pem';
const STATE = 'state.json';
const ORDER = 'order.json';

/** How the tries went, across restarts: a daemon that starts over and over is not to ask over and over. */
export interface TryState {
  /** What was asked for. */
  readonly names: readonly string[];
  readonly directoryUrl: string;
  /** The authority that issued what is there; null: none yet. */
  readonly issuedBy: string | null;
  readonly lastTryAt: number | null;
  /** In a row. */
  readonly failures: number;
  readonly nextTryAt: number | null;
  /** `host`: the name that could not be proved. */
  readonly error: { readonly type: string; readonly message: string; readonly host?: string | null } | null;
}

/** An order that has begun, with the key that its certificate will be for. */
export interface BegunOrder {
  readonly names: readonly string[];
  readonly directoryUrl: string;
  readonly url: string;
  /** PEM. */
  readonly key: string;
  readonly begunAt: number;
}

/** What the certificate that is there says. */
export interface Issued {
  readonly certificate: X509Certificate;
  readonly validFromMs: number;
  readonly validToMs: number;
}

/** The files of the certificate, each written in one step and readable by their owner alone. */
export class CertificateFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  get certificateFile(): string {
    return join(this.path, CERTIFICATE);
  }

  get challenges(): string {
    return join(this.path, 'challenges');
  }

  /** The key of the account with an authority, made when there is none. */
  accountKey(directoryUrl: string): KeyObject {
    const id = createHash('sha256').update(directoryUrl).digest('hex').slice(0, 12);
    const name = `account-${id}.pem`;
    const found = this.#read(name);
    if (found !== null) return createPrivateKey(found);
    const key = newKey();
    this.#write(name, keyToPem(key));
    return key;
  }

  /** What is there; null: nothing, or nothing that can be read. */
  issued(): Issued | null {
    const pem = this.#read(CERTIFICATE);
    if (pem === null) return null;
    try {
      const certificate = new X509Certificate(pem);
      return { certificate, ...validityOf(certificate) };
    } catch {
      return null;
    }
  }

  saveCertificate(key: KeyObject, chain: string): void {
    this.#write(CERTIFICATE, `${keyToPem(key)}${chain}`);
  }

  state(): TryState | null {
    return this.#readJson<TryState>(STATE, ['names', 'directoryUrl', 'failures']);
  }

  saveState(state: TryState): void {
    this.#write(STATE, `${JSON.stringify(state, null, 2)}\n`);
  }

  order(): BegunOrder | null {
    return this.#readJson<BegunOrder>(ORDER, ['names', 'directoryUrl', 'url', 'key', 'begunAt']);
  }

  saveOrder(order: BegunOrder): void {
    this.#write(ORDER, JSON.stringify(order));
  }

  removeOrder(): void {
    rmSync(join(this.path, ORDER), { force: true });
  }

  #write(name: string, data: string): void {
    writePrivateFile(join(privateFolder(this.path), name), data);
  }

  #read(name: string): string | null {
    try {
      return readFileSync(join(this.path, name), 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
  }

  /** Null for a file that somebody has damaged: what it holds can be found out anew. */
  #readJson<Document>(name: string, members: readonly (keyof Document & string)[]): Document | null {
    const text = this.#read(name);
    try {
      const value: unknown = JSON.parse(text ?? 'null');
      const isWhole =
        typeof value === 'object' &&
        value !== null &&
        members.every(one => one in value) &&
        Array.isArray((value as { names?: unknown }).names);
      return isWhole ? (value as Document) : null;
    } catch {
      return null;
    }
  }
}
