import { readFileSync } from 'node:fs';

/** The version in package.json. The path is relative to `dist/src/app/version.js`. */
export function packageVersion(): string {
  const url = new URL('../../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(url, 'utf8')) as { version: string }).version;
}
