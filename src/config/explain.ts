import { describeDefault, describeType } from './describe-key.js';
import { type RawValue, Secret } from './key.js';
import { exampleOf, KEY_LIST, SECTIONS } from './key-list.js';
import { LOCAL_FILE, OTHER_VARIABLES, SYSTEM_FILE } from './layers.js';
import { type Config, type ConfigSources, configValue } from './load-config.js';
import { renderToml, wrapText } from './texts.js';

const WIDTH = 100;

/** One key, as `postern --json config explain` prints it. */
export interface KeyExplanation {
  readonly key: string;
  readonly section: string;
  readonly name: string;
  readonly environment: string;
  readonly type: string;
  /** Range or allowed values; empty when the type is enough. */
  readonly allowed: string;
  /** Null when there is none, or when it is derived at start-up. */
  readonly default: RawValue | null;
  /** What a default that is derived at start-up is derived from; null for any other. */
  readonly default_from: string | null;
  readonly required: boolean;
  readonly secret: boolean;
  readonly example: RawValue;
  readonly description: string;
}

/** Explains every key, in the order of declaration. */
export function explainKeys(): readonly KeyExplanation[] {
  return KEY_LIST.map(key => ({
    key: key.id,
    section: key.section,
    name: key.name,
    environment: key.variable,
    type: key.type.name,
    allowed: key.type.allowed,
    default: key.fallback.kind === 'value' ? key.fallback.raw : null,
    default_from: key.fallback.kind === 'derived' ? key.fallback.from : null,
    required: key.fallback.kind === 'required',
    secret: key.type.isSecret,
    example: exampleOf(key),
    description: key.doc,
  }));
}

/** The text of `postern config explain`. */
export function renderExplanation(): string {
  const lines = [
    ...wrapText(
      `Postern reads the file that --config or POSTERN_CONFIG names, else ${SYSTEM_FILE}, else ./${LOCAL_FILE}. ` +
        'An environment variable overrides the file; the items of a list are separated by commas. ' +
        'A relative path counts from the folder of the file, or from the working directory when the environment sets it.',
      '',
      WIDTH,
    ),
  ];
  for (const section of SECTIONS) {
    lines.push('', ...wrapText(`[${section.id}] ${section.doc}`, '', WIDTH));
    for (const key of section.keys) {
      const example = key.fallback.kind === 'value' ? '' : ` Example: ${renderToml(exampleOf(key))}.`;
      lines.push('', `  ${key.id} (${key.variable})`);
      lines.push(...wrapText(key.doc, '    ', WIDTH));
      lines.push(
        ...wrapText(`Type: ${describeType(key)}. ${describeDefault(key)}.${example}`, '    ', WIDTH),
      );
    }
  }
  lines.push('', 'Other environment variables');
  for (const { variable, doc } of OTHER_VARIABLES) {
    lines.push('', `  ${variable}`, ...wrapText(doc, '    ', WIDTH));
  }
  return `${lines.join('\n')}\n`;
}

/** One effective value, as `postern --json config show` prints it. */
export interface ShownValue {
  readonly key: string;
  /** Null when it is not set. A secret shows as `(set)` or `(unset)`. */
  readonly value: RawValue | null;
  readonly source: 'default' | 'file' | 'environment';
  /** The file or the variable; null for a default. */
  readonly from: string | null;
}

/** The effective value of every key, and where it comes from. */
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

/** The text of `postern config show`: one key a line in TOML, followed by where its value comes from. */
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
