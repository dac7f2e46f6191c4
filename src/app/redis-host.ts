import type { Config } from '../config/load-config.js';
import type { RedisAddress, RedisSpace } from '../queue/connection.js';
import { checkExternalRedis } from '../queue/redis/external-redis.js';
import { ManagedRedis } from '../queue/redis/managed-redis.js';
import { getMeta } from '../store/engine/meta.js';
import type { Store } from '../store/engine/store.js';
import type { Logger } from '../usecases/ports.js';

/** The Redis of the queues: our own, or one that the operator runs. */
export class RedisHost implements RedisSpace {
  readonly address: RedisAddress;
  /** Contains the id of the store: appliances may share an external Redis, and each deletes its own jobs at start. */
  readonly prefix: string;
  readonly #managed: ManagedRedis | null;
  readonly #log: Logger;

  constructor({ config, store, log }: { config: Config; store: Store; log: Logger }) {
    this.#log = log;
    this.#managed =
      config.redis.mode === 'managed' ? new ManagedRedis({ dataDir: config.store.path, log }) : null;
    this.address = this.#managed?.address ?? { mode: 'external', url: config.redis.url?.reveal() ?? '' };
    this.prefix = `postern:${store.read(reader => getMeta(reader, 'identity'))?.id ?? ''}`;
  }

  /**
   * An absent Redis is not an error.
   * @throws RedisConfigurationError when only the operator can repair the fault; RedisInUseError
   */
  async start(): Promise<void> {
    if (this.#managed !== null) await this.#managed.start();
    else if (this.address.mode === 'external') await checkExternalRedis(this.address.url, this.#log);
  }

  async stop(): Promise<void> {
    await this.#managed?.stop();
  }
}
