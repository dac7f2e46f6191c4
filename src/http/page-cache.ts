/**
 * Answers to lists that were asked for lately. Each is good for one version (`listVersion`), which the store
 * counts up with every change, whatever process makes it; agents that ask for news again and again mostly
 * hear that there is none. Bounded in bytes; what was not asked for longest goes first.
 */
export class PageCache {
  readonly #maxBytes: number;
  readonly #pages = new Map<string, { readonly version: string; readonly bytes: Buffer }>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get(key: string, version: string): Buffer | undefined {
    const page = this.#pages.get(key);
    if (page?.version !== version) return undefined;
    this.#pages.delete(key);
    this.#pages.set(key, page);
    return page.bytes;
  }

  set(key: string, version: string, bytes: Buffer): void {
    this.#remove(key);
    this.#pages.set(key, { version, bytes });
    this.#bytes += sizeOf(key, bytes);
    for (const oldest of this.#pages.keys()) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#remove(oldest);
    }
  }

  #remove(key: string): void {
    const page = this.#pages.get(key);
    if (page === undefined) return;
    this.#pages.delete(key);
    this.#bytes -= sizeOf(key, page.bytes);
  }
}

/** About what an entry takes, the objects around it included. */
function sizeOf(key: string, bytes: Buffer): number {
  return bytes.length + 2 * key.length + 200;
}
