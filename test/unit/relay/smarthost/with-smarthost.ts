import { setImmediate } from 'node:timers/promises';
import type { Test } from 'tap';
import { type MessageId, newId } from '../../../../src/domain/ids.js';
import { type SmarthostOptions, smarthostDefaults } from '../../../../src/relay/smarthost/options.js';
import { SmarthostTransport } from '../../../../src/relay/smarthost/transport.js';
import type { RelayAttempt } from '../../../../src/usecases/ports.js';
import { type RecordingLog, recordingLog } from '../../../support/redis/redis.js';
import { type FakeSmarthost, withFakeSmarthost } from '../../../support/smarthost/fake-smarthost.js';
import type { Script, SmarthostSettings } from '../../../support/smarthost/smarthost-script.js';

export const CONTENT = 'Subject: hello\r\n\r\nHello,\r\n.\r\n..dots\r\n.end\r\n';

/** Timeouts short enough for a test; those that should not run out are as usual. */
export const SHORT: Partial<SmarthostOptions> = { quitMs: 200 };

export function attempt(
  changes: Partial<RelayAttempt['envelope']> & { content?: string | Buffer } = {},
): RelayAttempt {
  const { content = CONTENT, from = 'agent@example.org', recipients = ['one@elsewhere.example'] } = changes;
  return {
    id: newId<MessageId>(Date.now()),
    envelope: { from, recipients },
    content: typeof content === 'string' ? Buffer.from(content) : content,
  };
}

/** A transport to this port, closed after the test. */
export function transportTo(
  t: Test,
  port: number,
  options: Partial<SmarthostOptions> = {},
  log: RecordingLog = recordingLog(),
): SmarthostTransport {
  const transport = new SmarthostTransport(
    {
      ...smarthostDefaults,
      ...SHORT,
      host: '127.0.0.1',
      port,
      keepsMessageId: true,
      tls: 'none',
      user: null,
      passwordFile: null,
      caFile: null,
      hostname: 'mx.example.org',
      maxConnections: 3,
      ...options,
    },
    log,
  );
  t.teardown(() => transport.close(0));
  return transport;
}

export interface Pair {
  readonly smarthost: FakeSmarthost;
  readonly transport: SmarthostTransport;
}

/** A fake smarthost and a transport to it. */
export async function withSmarthost(
  t: Test,
  script: Script = {},
  options: Partial<SmarthostOptions> = {},
  settings: SmarthostSettings = {},
): Promise<Pair> {
  const smarthost = await withFakeSmarthost(t, script, settings);
  return { smarthost, transport: transportTo(t, smarthost.port, options) };
}

/** Sockets and timers that still keep the process alive once everything that is ending has ended. */
export async function leftBehind(): Promise<string[]> {
  return settled(/^(?:TCP\w*|TLS\w*|Timeout)$/);
}

/** Resolves when both sides of every connection have noticed its end. */
export async function untilNoSocket(): Promise<void> {
  await settled(/^TCPSocketWrap$/);
}

async function settled(kinds: RegExp): Promise<string[]> {
  let left: string[] = [];
  for (let turn = 0; turn < 100; turn += 1) {
    left = process.getActiveResourcesInfo().filter(kind => kinds.test(kind));
    if (left.length === 0) break;
    await setImmediate();
  }
  return left;
}
