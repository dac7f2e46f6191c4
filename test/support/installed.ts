import { existsSync } from 'node:fs';
import { postfixObstacle } from '../bench/peers/postfix.js';

/**
 * What tests need of Debian, `bin/setup --tests` installs: there they fail without it. Elsewhere they are left out, and
 * the run says so.
 * @param missing what is not there; null when everything is
 * @returns what tap takes as `skip`
 * @throws Error on Debian, when something is missing
 */
export function skipWithout(missing: string | null): string | false {
  if (missing === null) return false;
  if (existsSync('/etc/debian_version')) throw new Error(`${missing}; run bin/setup --tests as root`);
  return missing;
}

/** Only root can start Postfix; for others the tests that need it are left out. */
export function skipWithoutPostfix(): string | false {
  const obstacle = postfixObstacle();
  return process.getuid?.() === 0 ? skipWithout(obstacle) : (obstacle ?? false);
}
