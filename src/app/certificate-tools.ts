import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { AcmeError, adviceFor } from '../acme/acme-error.js';
import { CertificateFolder } from '../acme/certificate-folder.js';
import { CertificateKeeper, dueAt, pausedUntil } from '../acme/certificate-keeper.js';
import { acmeSettings, servedBy } from '../acme/settings.js';
import type { CertificateStatus, CertificateTools, IssueOutcome } from '../cli/dependencies.js';
import type { Config } from '../config/load-config.js';
import { DAY_MS, toInstant } from '../domain/instants.js';
import { reasonOf } from '../lib/async.js';
import { validityOf } from '../lib/certificates.js';
import { SILENT } from '../usecases/ports.js';
import { packageVersion } from './version.js';

/** For `postern tls` and `postern status`. */
export const certificateTools: CertificateTools = { status, obtain };

function status(config: Config): readonly CertificateStatus[] {
  const { smtp, http } = config;
  return [
    ...ofFiles(smtp.tlsCert, ['smtp']),
    ...ofFiles(http.tls === 'files' ? http.tlsCert : null, ['http']),
    ...ofAuthority(config),
  ];
}

function ofFiles(file: string | null, serves: CertificateStatus['serves']): CertificateStatus[] {
  if (file === null) return [];
  const base = { source: 'files', file, serves, ...NOTHING_ASKED } as const;
  try {
    return [{ ...base, ...factsOf(new X509Certificate(readFileSync(file)), Date.now()) }];
  } catch (error) {
    return [{ ...base, ...NOTHING_THERE, state: 'unreadable', error: told('disk', reasonOf(error), '') }];
  }
}

function ofAuthority(config: Config): CertificateStatus[] {
  const settings = acmeSettings(config);
  if (settings === null) return [];
  const folder = new CertificateFolder(settings.folder);
  const base = { source: 'acme', file: folder.certificateFile, serves: servedBy(config) } as const;
  try {
    const issued = folder.issued();
    const tries = folder.state();
    const { atMs, want } = dueAt(settings, issued, tries, Date.now());
    const nextMs = Math.max(atMs, pausedUntil(settings, tries, Date.now()));
    const facts = issued === null ? NOTHING_THERE : factsOf(issued.certificate, Date.now());
    const error = tries?.error ?? null;
    return [
      {
        ...base,
        ...facts,
        state: facts.state === 'valid' && want !== 'lifetime' ? 'replaced_soon' : facts.state,
        asked_for: settings.names,
        authority: settings.directoryUrl,
        renewal_at: nextMs === 0 ? null : toInstant(nextMs),
        last_try_at: tries?.lastTryAt == null ? null : toInstant(tries.lastTryAt),
        failures: tries?.failures ?? 0,
        error: error === null ? null : told(error.type, error.message, adviceFor(error)),
      },
    ];
  } catch (error) {
    return [
      {
        ...base,
        ...NOTHING_THERE,
        ...NOTHING_ASKED,
        state: 'unreadable',
        error: told('disk', reasonOf(error), ''),
      },
    ];
  }
}

const NOTHING_ASKED = {
  asked_for: null,
  authority: null,
  renewal_at: null,
  last_try_at: null,
  failures: 0,
  error: null,
} as const;

const NOTHING_THERE = {
  state: 'missing',
  names: [],
  issuer: null,
  valid_from: null,
  valid_to: null,
  days_left: null,
} as const;

function factsOf(certificate: X509Certificate, nowMs: number) {
  const { validFromMs, validToMs } = validityOf(certificate);
  return {
    state: validToMs <= nowMs ? ('expired' as const) : ('valid' as const),
    names: (certificate.subjectAltName ?? '').split(', ').map(name => name.replace(/^DNS:/, '')),
    issuer: certificate.issuer.replaceAll('\n', ', '),
    valid_from: toInstant(validFromMs),
    valid_to: toInstant(validToMs),
    days_left: Math.floor((validToMs - nowMs) / DAY_MS),
  };
}

function told(type: string, message: string, advice: string) {
  return { type, message, advice };
}

async function obtain(
  config: Config,
  { needs, becomeOwner, onStep }: Parameters<CertificateTools['obtain']>[1],
): Promise<IssueOutcome> {
  const settings = acmeSettings(config);
  if (settings === null) return { kind: 'off' };
  const keeper = new CertificateKeeper({ settings, clock: Date.now, version: packageVersion(), log: SILENT });
  try {
    // Root may take port 80, and the owner of the data folder may not.
    await keeper.openPort(true);
    becomeOwner();
    const { atMs } = dueAt(settings, keeper.folder.issued(), keeper.folder.state(), Date.now());
    if (needs === 'due' && atMs > Date.now()) return { kind: 'not_due', renewal_at: toInstant(atMs) };
    await keeper.obtain(onStep);
    return { kind: 'issued' };
  } catch (error) {
    if (!(error instanceof AcmeError)) throw error;
    const nextMs = pausedUntil(settings, keeper.folder.state(), Date.now());
    return {
      kind: 'failed',
      type: error.type,
      message: `${error.message.replace(/\.$/, '')}. ${adviceFor(error)}`,
      next_try_at: nextMs === 0 ? null : toInstant(nextMs),
    };
  } finally {
    await keeper.stop();
  }
}
