import type { Test } from 'tap';
import { createRelay, type RunningRelay } from '../../../src/relay/relay.js';
import type { SmarthostTimeouts } from '../../../src/relay/smarthost/options.js';
import type { InboundMail } from '../../../src/usecases/ports.js';
import { type RecordingLog, recordingLog } from '../../support/redis/redis.js';
import { type FakeSmarthost, withFakeSmarthost } from '../../support/smarthost/fake-smarthost.js';
import type { Script } from '../../support/smarthost/smarthost-script.js';
import { loaded } from '../config/load.js';
import { RecordingInbound } from '../smtp/recording-inbound.js';

const MAIL = '[mail]\ndomains = ["example.org", "example.net"]\nhostname = "mx.example.org"\n';

export interface TestRelay {
  readonly relay: RunningRelay;
  readonly log: RecordingLog;
}

/** A relay as the configuration makes it, closed after the test. */
export function relayFor(
  t: Test,
  inbound: InboundMail,
  toml = '',
  timeouts: Partial<SmarthostTimeouts> = { quitMs: 200 },
): TestRelay {
  const log = recordingLog();
  const relay = createRelay({
    config: loaded({ toml: `${MAIL}${toml}` }),
    inbound,
    log,
    signer: null,
    direct: null,
    timeouts,
  });
  t.teardown(() => relay.close(0));
  return { relay, log };
}

/** The configuration keys for a fake smarthost. */
export function smarthostToml(smarthost: FakeSmarthost): string {
  return `[relay]\ntransport = "smarthost"\n[relay.smarthost]\nhost = "127.0.0.1"\nport = ${smarthost.port}\ntls = "none"\n`;
}

export interface MixedRelay extends TestRelay {
  readonly inbound: RecordingInbound;
  readonly smarthost: FakeSmarthost;
}

/** Inboxes `agent@` and `other@example.org` here, and a fake smarthost for all others. */
export async function withMixedRelay(
  t: Test,
  script: Script = {},
  timeouts?: Partial<SmarthostTimeouts>,
): Promise<MixedRelay> {
  const inbound = new RecordingInbound();
  const smarthost = await withFakeSmarthost(t, script);
  return { inbound, smarthost, ...relayFor(t, inbound, smarthostToml(smarthost), timeouts) };
}
