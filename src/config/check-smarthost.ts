import type { ConfigProblem } from './config-problem.js';
import type { SettledValues } from './settle-values.js';

/** 127.0.0.0/8, ::1 and the name for them (RFC 6761 section 6.3): what is sent there never leaves the machine. */
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/;

/** The rules that join the keys of [relay] and [relay.smarthost]. */
export function checkSmarthost(values: SettledValues): (ConfigProblem | null)[] {
  return [checkHost(values), checkCredentials(values), checkPlainPassword(values), checkCaFile(values)];
}

function checkHost(values: SettledValues): ConfigProblem | null {
  const transport = values.get('relay.transport');
  const host = values.get('relay.smarthost.host');
  if (transport === undefined || host === undefined) return null;
  if (transport.value === 'smarthost' && host.value === null) {
    return {
      where: transport.where,
      what: 'relay.transport is "smarthost", but relay.smarthost.host is not set',
      fix: 'Set relay.smarthost.host to the name of that server, or leave relay.transport at "local".',
    };
  }
  if (transport.value === 'local' && host.value !== null) {
    return {
      where: host.where,
      what: 'relay.smarthost.host is set, but relay.transport is "local", which does not use it',
      fix: 'Set relay.transport to "smarthost", or remove relay.smarthost.host.',
    };
  }
  return null;
}

function checkCredentials(values: SettledValues): ConfigProblem | null {
  const user = values.get('relay.smarthost.user');
  const file = values.get('relay.smarthost.password_file');
  if (user === undefined || file === undefined || (user.value === null) === (file.value === null))
    return null;
  const [set, setName, missingName] =
    user.value === null ? [file, 'password_file', 'user'] : [user, 'user', 'password_file'];
  return {
    where: set.where,
    what: `relay.smarthost.${setName} is set, but relay.smarthost.${missingName} is not`,
    fix: `Set relay.smarthost.${missingName} too, or neither for a server that asks for no password.`,
  };
}

function checkPlainPassword(values: SettledValues): ConfigProblem | null {
  const tls = values.get('relay.smarthost.tls');
  const file = values.get('relay.smarthost.password_file')?.value;
  const host = values.get('relay.smarthost.host')?.value;
  if (tls?.value !== 'none' || typeof file !== 'string' || typeof host !== 'string') return null;
  if (LOOPBACK.test(host)) return null;
  return {
    where: tls.where,
    what: `relay.smarthost.tls is "none", so the password would go to ${host} in plain text`,
    fix: 'Set relay.smarthost.tls to "starttls" or "implicit", or do without user and password_file.',
  };
}

function checkCaFile(values: SettledValues): ConfigProblem | null {
  const tls = values.get('relay.smarthost.tls');
  const file = values.get('relay.smarthost.ca_file');
  if (tls?.value !== 'none' || file === undefined || file.value === null) return null;
  return {
    where: file.where,
    what: 'relay.smarthost.ca_file is set, but relay.smarthost.tls is "none", which checks no certificate',
    fix: 'Set relay.smarthost.tls to "starttls" or "implicit", or remove relay.smarthost.ca_file.',
  };
}
