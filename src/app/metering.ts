import type { Config } from '../config/load-config.js';
import type { Answered } from '../http/server/http-server.js';
import { AdminServer } from '../metrics/admin-server.js';
import { Figures } from '../metrics/figures.js';
import {
  meteredCaller,
  meteredDeliverer,
  meteredDeliveries,
  meteredInbound,
  meteredParser,
  meteredRelay,
} from '../metrics/metered.js';
import { State, type StateSources } from '../metrics/state.js';
import type { Store } from '../store/engine/store.js';
import type { Deliverer, InboundMail, Logger, MessageParser, Relay, WorkQueue } from '../usecases/ports.js';
import type { HookCaller } from '../usecases/webhooks/hook-call.js';

/** What of the daemon is counted, by putting a counting port in the place of each. */
export interface Meters {
  inbound(port: InboundMail): InboundMail;
  parser(port: MessageParser): MessageParser;
  relay(port: Relay): Relay;
  deliverer(port: Deliverer): Deliverer;
  deliveries<Work extends { readonly sentId: string }>(queue: WorkQueue<Work>): WorkQueue<Work>;
  caller(port: HookCaller): HookCaller;
  readonly onAnswered: ((answered: Answered) => void) | undefined;
}

/** Nobody asks for figures: nothing is put in between, and nothing is counted. */
export const NO_METERS: Meters = {
  inbound: port => port,
  parser: port => port,
  relay: port => port,
  deliverer: port => port,
  deliveries: queue => queue,
  caller: port => port,
  onAnswered: undefined,
};

/** The figures of the daemon and the listener that serves them; off unless `admin.port` is set. */
export class Metering {
  readonly meters: Meters;
  readonly #figures: Figures;
  readonly #config: Config;
  readonly #log: Logger;
  readonly #unsubscribe: () => void;
  #server: AdminServer | null = null;

  private constructor(config: Config, store: Store, log: Logger) {
    const figures = new Figures();
    this.#figures = figures;
    this.#config = config;
    this.#log = log;
    this.meters = {
      inbound: port => meteredInbound(port, figures),
      parser: port => meteredParser(port, figures),
      relay: port => meteredRelay(port, figures),
      deliverer: port => meteredDeliverer(port, figures),
      deliveries: queue => meteredDeliveries(queue, figures),
      caller: port => meteredCaller(port, figures),
      onAnswered: ({ method, path, status, durationMs }) =>
        figures.request(
          method ?? 'other',
          path ?? 'none',
          status,
          durationMs === null ? null : durationMs / 1000,
        ),
    };
    this.#unsubscribe = store.onCommitted((_topics, happened) => {
      for (const type of happened) figures.event(type);
    });
  }

  /** Null where no port is configured. */
  static of(config: Config, store: Store, log: Logger): Metering | null {
    return config.admin.port === 0 ? null : new Metering(config, store, log);
  }

  /** Opens the listener. Rejects when its address or port cannot be used. */
  async start(sources: Omit<StateSources, 'mapSizeBytes' | 'diskFloorBytes'>): Promise<void> {
    const { admin, store } = this.#config;
    const { registry } = this.#figures;
    const state = new State(registry, {
      ...sources,
      mapSizeBytes: store.mapSizeGib * 2 ** 30,
      diskFloorBytes: store.diskFloorMib * 2 ** 20,
    });
    this.#server = new AdminServer({
      host: admin.host,
      port: admin.port,
      log: this.#log,
      figures: async () => {
        await state.read();
        return { contentType: registry.contentType, text: await this.#figures.text() };
      },
    });
    const { port } = await this.#server.start();
    this.#log.info({ host: admin.host, port }, 'figures are served at /metrics');
  }

  async stop(graceMs: number): Promise<void> {
    this.#unsubscribe();
    await this.#server?.stop(graceMs);
  }
}
