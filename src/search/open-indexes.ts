import { join } from 'node:path';
import { privateFolder } from '../store/private-files.js';
import { AccountIndex, UnusableIndexError } from './account-index.js';

export function indexPath(directory: string, accountId: string): string {
  return join(directory, `${accountId}${SUFFIX}`);
}

export const SUFFIX = '.index';

/** Keeps the indexes of the accounts that were last used open, up to a number. */
export class OpenIndexes {
  readonly #directory: string;
  readonly #purpose: 'read' | 'write';
  readonly #max: number;
  /** The one that was used last stands last. */
  readonly #open = new Map<string, AccountIndex>();

  constructor(directory: string, purpose: 'read' | 'write', max: number) {
    this.#directory = directory;
    this.#purpose = purpose;
    this.#max = max;
  }

  /**
   * The index of an account. One whose file was replaced or deleted since is opened anew.
   * @throws UnusableIndexError
   */
  get(accountId: string): AccountIndex {
    const known = this.#open.get(accountId);
    if (known?.isInPlace === true) return this.#use(accountId, known);
    this.close(accountId);
    const path = indexPath(this.#directory, accountId);
    return this.#use(accountId, AccountIndex.open(path, accountId, this.#purpose));
  }

  /**
   * The index of an account, which the store knows by this mark (`SearchRecord`).
   * @throws UnusableIndexError
   */
  getAt(accountId: string, mark: number): AccountIndex {
    const index = this.get(accountId);
    if (!index.knows(mark)) throw new UnusableIndexError('its file is of another state of the store');
    return index;
  }

  /** An empty index in place of the one that the account has. */
  create(accountId: string): AccountIndex {
    this.close(accountId);
    // Somebody may have deleted it with all that was in it.
    privateFolder(this.#directory);
    return this.#use(accountId, AccountIndex.create(indexPath(this.#directory, accountId), accountId));
  }

  #use(accountId: string, index: AccountIndex): AccountIndex {
    this.#open.delete(accountId);
    this.#open.set(accountId, index);
    const [oldest] = this.#open.keys();
    if (this.#open.size > this.#max && oldest !== undefined) this.close(oldest);
    return index;
  }

  close(accountId: string): void {
    const index = this.#open.get(accountId);
    this.#open.delete(accountId);
    index?.close();
  }

  closeAll(): void {
    for (const accountId of [...this.#open.keys()]) this.close(accountId);
  }
}
