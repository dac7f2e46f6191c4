import { type Config, configValue } from './config.js';
import { KEY_LIST } from './key-list.js';
import type { ConfigSources } from './load-config.js';
import { renderToml } from './render-toml.js';
import { Secret } from './secret.js';
import type { RawValue } from './value-type.js';

/** One effective value, as `postern --json config show` tells it. */
export interface ShownValue {
  readonly key: string;
  /** Null when it is not set. A secret shows as `(set)` or `(unset)`. */
  readonly value: RawValue | null;
  readonly source: 'default' | 'file' | 'environment';
  /** The file or the variable; null for a default. */
  readonly from: string | null;
}

/** The effective configuration, key by key, with the origin of each value. */
export function showConfig(config: Config, sources: ConfigSources): readonly ShownValue[] {
  return KEY_LIST.map(key => {
    const value = configValue(config, key.id);
    const source = sources.get(key.id) ?? { kind: 'default' };
    return {
      key: key.id,
      value: key.type.isSecret || value instanceof Secret ? (value === null ? '(unset)' : '(set)') : value,
      source: source.kind,
      from: source.kind === 'file' ? source.file : source.kind === 'environment' ? source.variable : null,
    };
  });
}

/** The text of `postern config show`: a key a line, as TOML writes it, with its origin behind. */
export function renderShown(shown: readonly ShownValue[]): string {
  const rows = shown.map(({ key, value, source, from }) => ({
    setting: `${key} = ${renderShownValue(value)}`,
    origin: from ?? source,
  }));
  const width = Math.min(60, Math.max(...rows.map(row => row.setting.length)));
  return rows.map(({ setting, origin }) => `${setting.padEnd(width)}  # ${origin}\n`).join('');
}

function renderShownValue(value: RawValue | null): string {
  if (value === null) return '(unset)';
  return value === '(set)' || value === '(unset)' ? value : renderToml(value);
}
