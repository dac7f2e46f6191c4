import type { Test } from 'tap';
import { type SmtpListenerOptions, smtpListenerDefaults } from '../../../src/smtp/options.js';
import { SmtpListener } from '../../../src/smtp/smtp-listener.js';
import type { Logger } from '../../../src/usecases/ports.js';
import { RecordingInbound } from './recording-inbound.js';

export interface LogLine {
  readonly fields: object;
  readonly message: string;
}

export interface TestListener {
  readonly listener: SmtpListener;
  readonly inbound: RecordingInbound;
  readonly port: number;
  readonly implicitTlsPort: number;
  readonly log: readonly LogLine[];
}

/** A listener on a free port with a recording `InboundMail`, stopped when the test ends. */
export async function withListener(
  t: Test,
  options: Partial<SmtpListenerOptions> = {},
  inbound = new RecordingInbound(),
): Promise<TestListener> {
  const log: LogLine[] = [];
  const note = (fields: object, message: string) => void log.push({ fields, message });
  const logger: Logger = { debug: note, info: note, warn: note, error: note, fatal: note };
  const listener = new SmtpListener(
    { ...smtpListenerDefaults, hostname: 'mx.example.org', host: '127.0.0.1', port: 0, ...options },
    inbound,
    logger,
  );
  const { port, implicitTlsPort } = await listener.start();
  t.teardown(() => listener.stop(0));
  return { listener, inbound, port, implicitTlsPort: implicitTlsPort ?? 0, log };
}
