import { readFileSync } from 'node:fs';

/** Version of the package: this module runs as `dist/src/app/version.js`. */
export function packageVersion(): string {
  const url = new URL('../../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(url, 'utf8')) as { version: string }).version;
}
