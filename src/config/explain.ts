import { describeDefault, describeType } from './describe-key.js';
import { OTHER_VARIABLES } from './environment-settings.js';
import { exampleOf, KEY_LIST, SECTIONS } from './key-list.js';
import { LOCAL_FILE, SYSTEM_FILE } from './read-config-file.js';
import { renderToml } from './render-toml.js';
import type { RawValue } from './value-type.js';
import { wrapText } from './wrap-text.js';

const WIDTH = 100;

/** All that is known of one key, as `postern --json config explain` tells it. */
export interface KeyExplanation {
  readonly key: string;
  readonly section: string;
  readonly name: string;
  readonly environment: string;
  readonly type: string;
  /** Range or allowed values; empty when the type says it all. */
  readonly allowed: string;
  /** Null when there is none, or when it is worked out at start-up. */
  readonly default: RawValue | null;
  /** What a default that is worked out at start-up follows from. */
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
