import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { DAY_MS } from '../domain/instants.js';
import { privateFolder, writePrivateFile } from '../store/private-files.js';
import { AcmeError } from './acme-error.js';

/** RFC 8555 section 8.3. */
const CHALLENGE_PATH = '/.well-known/acme-challenge/';
/** RFC 8555 section 8.1: base64url, of 128 bits at least. */
const TOKEN = /^[A-Za-z0-9_-]{16,256}$/;
/** What an ended process has left is removed after this long. */
const STALE_MS = DAY_MS;

/**
 * What an authority is to find under `CHALLENGE_PATH`: a file for each token, so that whichever process has the port
 * answers, be it the daemon for a command beside it.
 */
export class Challenges {
  readonly #path: string;

  /** @param path the folder, which is made when the first token comes */
  constructor(path: string) {
    this.#path = path;
  }

  /** Answers for a token from now on. */
  put(token: string, keyAuthorization: string): void {
    if (!TOKEN.test(token)) throw new AcmeError('protocol', 'a token of the authority is not base64url');
    writePrivateFile(join(privateFolder(this.#path), token), keyAuthorization);
  }

  remove(token: string): void {
    rmSync(join(this.#path, token), { force: true });
  }

  removeStale(nowMs: number): void {
    for (const name of this.#names()) {
      const file = join(this.#path, name);
      const modified = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? nowMs;
      if (nowMs - modified > STALE_MS) rmSync(file, { force: true });
    }
  }

  /**
   * Answers a request for a token: with what the authority is to see, or 404.
   * @returns whether it was one; if not, nothing was done
   */
  answer({ method, url = '' }: IncomingMessage, response: ServerResponse): boolean {
    if (!url.startsWith(CHALLENGE_PATH) || (method !== 'GET' && method !== 'HEAD')) return false;
    const text = this.#find(url.slice(CHALLENGE_PATH.length));
    writeText(response, text === null ? 404 : 200, text ?? 'There is no such challenge.\n');
    return true;
  }

  #find(token: string): string | null {
    if (!TOKEN.test(token)) return null;
    try {
      return readFileSync(join(this.#path, token), 'utf8');
    } catch {
      return null;
    }
  }

  #names(): string[] {
    try {
      return readdirSync(this.#path);
    } catch {
      return [];
    }
  }
}

export function writeText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'Content-Type': status === 200 ? 'application/octet-stream' : 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  });
  // Node leaves the body of an answer to HEAD out.
  response.end(text);
}
