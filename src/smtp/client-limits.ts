import { clientNetwork } from '../domain/client-network.js';

export type Admission = 'admitted' | 'too_many_clients' | 'too_many_from_address';

/** Counts open connections, in all and for each client network, and says who may come in. */
export class ClientLimits {
  readonly #maxClients: number;
  readonly #maxPerAddress: number;
  readonly #open = new Map<string, number>();
  #total = 0;

  constructor(maxClients: number, maxClientsPerAddress: number) {
    this.#maxClients = maxClients;
    this.#maxPerAddress = maxClientsPerAddress;
  }

  get total(): number {
    return this.#total;
  }

  /** Counts the client in if it is admitted; then `release` must follow once. */
  admit(address: string): Admission {
    const network = clientNetwork(address);
    const open = this.#open.get(network) ?? 0;
    if (open >= this.#maxPerAddress) return 'too_many_from_address';
    if (this.#total >= this.#maxClients) return 'too_many_clients';
    this.#open.set(network, open + 1);
    this.#total += 1;
    return 'admitted';
  }

  release(address: string): void {
    const network = clientNetwork(address);
    const open = this.#open.get(network) ?? 0;
    if (open <= 1) this.#open.delete(network);
    else this.#open.set(network, open - 1);
    this.#total -= 1;
  }
}
