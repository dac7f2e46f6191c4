import { exampleOf, KEY_LIST, SECTIONS } from './key-list.js';
import { renderToml } from './render-toml.js';
import type { RawValue } from './value-type.js';
import { wrapText } from './wrap-text.js';

const WIDTH = 100;

/** What an operator will want to set next; shown, commented out. */
const SUGGESTED: ReadonlySet<string> = new Set([
  'service.public_url',
  'mail.hostname',
  'smtp.tls_cert',
  'smtp.tls_key',
  'http.trusted_proxies',
]);

export interface InitialConfig {
  /** The first mail domain. */
  readonly domain: string;
  /** The data folder. */
  readonly dataDir: string;
  /** Further settings by dotted key, such as `{'smtp.port': 2525}`. */
  readonly settings?: Readonly<Record<string, RawValue>>;
}

/**
 * A short configuration that works as it stands. The values are written as they come: check the
 * result with `loadConfig`, as for any other file.
 * @throws for a setting that is no key, which is a mistake of the caller
 */
export function renderInitialConfig({ domain, dataDir, settings = {} }: InitialConfig): string {
  const values = new Map(
    Object.entries({ ...settings, 'mail.domains': [domain], 'store.path': dataDir }) as [string, RawValue][],
  );
  const unknown = [...values.keys()].find(id => !KEY_LIST.some(key => key.id === id));
  if (unknown !== undefined) throw new Error(`${unknown} is not a configuration key`);

  const lines = [
    '# Postern configuration, written by "postern init".',
    '# "postern config explain" tells every key; "postern config check" checks this file.',
  ];
  for (const section of SECTIONS) {
    const keys = section.keys.filter(key => values.has(key.id) || SUGGESTED.has(key.id));
    if (keys.length === 0) continue;
    lines.push('', `[${section.id}]`);
    for (const key of keys) {
      const value = values.get(key.id);
      lines.push(...wrapText(key.doc, '# ', WIDTH));
      lines.push(
        value === undefined
          ? `#${key.name} = ${renderToml(exampleOf(key))}`
          : `${key.name} = ${renderToml(value)}`,
      );
    }
  }
  return `${lines.join('\n')}\n`;
}
