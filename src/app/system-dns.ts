import { Resolver } from 'node:dns/promises';
import { codeOrReasonOf } from '../lib/async.js';
import type { DnsTexts } from '../usecases/ports.js';

/** How long one resolver may take for an answer, and how often all are asked. */
const PATIENCE = { timeout: 2_000, tries: 2 };

/** There is no such name, or it has no text. */
const NONE = new Set(['ENOTFOUND', 'ENODATA']);

/** The resolvers of the system. */
export class SystemDns implements DnsTexts {
  readonly #resolver = new Resolver(PATIENCE);

  async txt(name: string): Promise<readonly string[] | 'failed'> {
    try {
      const records = await this.#resolver.resolveTxt(name);
      return records.map(strings => strings.join(''));
    } catch (error) {
      return NONE.has(codeOrReasonOf(error)) ? [] : 'failed';
    }
  }

  /** Questions that are open end as failed. */
  close(): void {
    this.#resolver.cancel();
  }
}
