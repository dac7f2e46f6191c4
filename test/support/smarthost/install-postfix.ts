import { execFile } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { postfixObstacle } from '../../bench/peers/postfix.js';

const INSTALL_MS = 150_000;
/** Debian asks it before it starts a service that was just installed; ours says no. */
const POLICY = '/usr/sbin/policy-rc.d';

/** Installs Postfix where it is missing (Debian, as root). Why it cannot be had; null when it is there. */
export async function installPostfix(): Promise<string | null> {
  const obstacle = postfixObstacle();
  if (obstacle === null || process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return obstacle;
  const isPolicyOurs = !existsSync(POLICY);
  if (isPolicyOurs) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    const run = (...args: string[]) => promisify(execFile)('apt-get', args, { env, timeout: INSTALL_MS });
    await run('update', '-qq');
    await run('install', '-y', '-qq', '--no-install-recommends', 'postfix');
    return postfixObstacle();
  } catch {
    return `${obstacle}, and apt-get could not install it`;
  } finally {
    if (isPolicyOurs) rmSync(POLICY, { force: true });
  }
}
