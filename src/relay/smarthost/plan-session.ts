import { readFile } from 'node:fs/promises';
import { codeOrReasonOf } from '../../lib/async.js';
import { SessionFailure } from '../session/session-failure.js';
import type { SessionPlan } from '../session/session-opening.js';
import type { SmarthostOptions } from './options.js';

/** How long one address of a host is tried before the next one is tried too (RFC 8305 section 5). */
const ADDRESS_ATTEMPT_MS = 1_000;

/**
 * How a session with the smarthost is set up. Its password and its authorities are read anew each time. The host is
 * looked up by the resolver of the system, which reads /etc/hosts and does not cache names for long.
 * @throws SessionFailure when a file cannot be read
 */
export async function planSession(options: SmarthostOptions): Promise<SessionPlan> {
  const { host, port, tls, hostname, user, passwordFile, caFile, setupMs } = options;
  const [password, ca] = await Promise.all([
    passwordFile === null ? null : readSecret(passwordFile).catch(cannotRead('auth', passwordFile)),
    caFile === null ? null : readFile(caFile).catch(cannotRead('tls', caFile)),
  ]);
  return {
    host,
    endpoint: { host, port, autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS },
    security: tls,
    // The library sets the name that the certificate must have: that of the host.
    tls: { rejectUnauthorized: true, minVersion: 'TLSv1.2', ...(ca === null ? {} : { ca }) },
    checkPeer: null,
    login: password === null ? null : { user: user ?? '', password },
    hostname,
    // The whole set-up is limited, not its parts.
    connectMs: 2 * setupMs,
    silenceMs: 2 * setupMs,
  };
}

function cannotRead(kind: 'auth' | 'tls', path: string) {
  return (error: unknown): never => {
    throw new SessionFailure(kind, `cannot read ${path}: ${codeOrReasonOf(error)}`);
  };
}

/** Reads a password from its file, without the line end that editors add. Rejects when it is empty or unreadable. */
export async function readSecret(path: string): Promise<string> {
  const secret = (await readFile(path, 'utf8')).replace(/\r?\n$/, '');
  if (secret === '') throw new Error('the file is empty');
  return secret;
}
