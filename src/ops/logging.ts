import { destination, type Logger as PinoLogger, pino } from 'pino';

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

/**
 * Values that never reach a log, wherever a caller puts them by mistake. Callers log ids, sizes, codes and
 * addresses of clients; never bodies, credentials or header values.
 */
const REDACTED = ['credential', 'authorization', 'phrase', 'password', 'headers', 'body'].flatMap(name => [
  name,
  `*.${name}`,
]);

export type RootLogger = PinoLogger;

/** JSON lines on standard output, where systemd's journal takes them. */
export function createLogger(level: LogLevel): RootLogger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: label => ({ level: label }) },
      redact: { paths: REDACTED, censor: '[redacted]' },
    },
    // Synchronous: the last line before an end of the process is the one that is needed.
    destination({ dest: 1, sync: true }),
  );
}
