import { destination, type Logger as PinoLogger, pino } from 'pino';

/** Severities of the configuration key `log.level`. */
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

/**
 * Fields that are redacted, in case a caller logs one by mistake, at the top of an entry and one level below. Callers
 * log ids, sizes, codes and client addresses, never bodies, credentials or header values.
 */
const REDACTED = ['credential', 'authorization', 'phrase', 'password', 'headers', 'body'].flatMap(name => [
  name,
  `*.${name}`,
]);

export type RootLogger = PinoLogger;

/** A logger of JSON lines on standard output, where systemd's journal collects them. */
export function createLogger(level: LogLevel): RootLogger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: label => ({ level: label }) },
      redact: { paths: REDACTED, censor: '[redacted]' },
    },
    // Synchronous, so that the last line before the process ends is never lost.
    destination({ dest: 1, sync: true }),
  );
}
