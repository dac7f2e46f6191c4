import type { Config } from '../config/load-config.js';
import type { InboundMail, Logger, MailSigner, Relay } from '../usecases/ports.js';
import { LocalDelivery } from './local-delivery.js';
import { signedTransport } from './signed-transport.js';
import { type SmarthostTimeouts, smarthostDefaults } from './smarthost/options.js';
import { SmarthostTransport } from './smarthost/transport.js';
import { type RelayWay, SplitRelay } from './split-relay.js';
import type { Transport } from './transport.js';

export interface CreateRelayOptions {
  readonly config: Pick<Config, 'relay' | 'mail' | 'smtp'>;
  readonly inbound: InboundMail;
  readonly log: Logger;
  /** The transport with `relay.transport = "direct"`. */
  readonly direct: Transport | null;
  /** Signs what goes outside; null leaves it as it is. */
  readonly signer: MailSigner | null;
  /** Overrides of the defaults, for tests. */
  readonly timeouts?: Partial<SmarthostTimeouts>;
}

/** A relay to be started and closed. It works without `start` too; after `close` it rejects every message. */
export interface RunningRelay extends Relay {
  /** How a message to these recipients goes. */
  wayOf(recipients: readonly string[]): RelayWay;
  /** Logs what is missing, such as a password that cannot be read. Never rejects. */
  start(): Promise<void>;
  /** Submissions in flight may finish within `graceMs`. Resolves when no submission, socket or timer is left. */
  close(graceMs: number): Promise<void>;
}

/** Makes the relay that the configuration asks for. */
export function createRelay(options: CreateRelayOptions): RunningRelay {
  const { config, inbound, log, signer } = options;
  const { hostname, domains } = config.mail;
  const local = new LocalDelivery({ inbound, hostname, maxMessageBytes: config.smtp.maxMessageBytes });
  const transport = createTransport(options);
  const outside = transport === null || signer === null ? transport : signedTransport(transport, signer, log);
  return new SplitRelay({ domains, local, outside, log });
}

function createTransport({ config, log, timeouts, direct }: CreateRelayOptions): Transport | null {
  switch (config.relay.transport) {
    case 'local':
      return null;
    case 'direct':
      return direct;
    case 'smarthost': {
      const { host, ...smarthost } = config.relay.smarthost;
      if (host === null) {
        throw new Error('relay.smarthost.host is not set though the configuration was checked');
      }
      const { hostname } = config.mail;
      return new SmarthostTransport({ ...smarthostDefaults, ...smarthost, ...timeouts, host, hostname }, log);
    }
  }
}
