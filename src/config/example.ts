import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describeDefault, describeType } from './describe-key.js';
import type { RawValue } from './key.js';
import { exampleOf, KEY_LIST, type NamedKey, SECTIONS } from './key-list.js';
import { renderToml, wrapText } from './texts.js';

const WIDTH = 100;

/**
 * The example file: every key with its description, bounds and default. All but the required keys are commented out,
 * so the file as it is gives the defaults.
 */
export function renderExample(): string {
  const lines = [
    '# Postern: every configuration key. Generated from src/config/keys.ts by "npm run config:example".',
    '#',
    '# A key that is commented out shows its default, or an example where the default is empty or worked',
    '# out at start-up. The environment overrides this file; an unknown key or variable is an error.',
    '# Relative paths count from the folder of this file.',
  ];
  for (const section of SECTIONS) {
    lines.push('', '', ...wrapText(section.doc, '# ', WIDTH), `[${section.id}]`);
    for (const key of section.keys) lines.push('', ...renderKey(key));
  }
  return `${lines.join('\n')}\n`;
}

function renderKey(key: NamedKey): string[] {
  const isCommentedOut = key.fallback.kind !== 'required';
  return [
    ...wrapText(key.doc, '# ', WIDTH),
    ...wrapText(`Type: ${describeType(key)}.`, '# ', WIDTH),
    ...wrapText(`${describeDefault(key)}. Environment: ${key.variable}`, '# ', WIDTH),
    `${isCommentedOut ? '#' : ''}${key.name} = ${renderToml(exampleOf(key))}`,
  ];
}

/** Keys that an operator will want to set next: they are shown commented out. */
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
  /** More settings by dotted key, such as `{'smtp.port': 2525}`. */
  readonly settings?: Readonly<Record<string, RawValue>>;
}

/**
 * A short configuration that works as it is. The values are not checked here: load the result with `loadConfig`, as
 * any other file.
 * @throws Error when a setting is not a configuration key, which is a mistake of the caller
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

/** `npm run config:example` runs this file to write config/postern.example.toml. */
if (process.argv[1] === import.meta.filename) {
  const target = fileURLToPath(new URL('../../../config/postern.example.toml', import.meta.url));
  writeFileSync(target, renderExample());
  process.stdout.write(`wrote ${target}\n`);
}
