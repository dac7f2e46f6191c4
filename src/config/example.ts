import { describeDefault, describeType } from './describe-key.js';
import { exampleOf, type NamedKey, SECTIONS } from './key-list.js';
import { renderToml } from './render-toml.js';
import { wrapText } from './wrap-text.js';

const WIDTH = 100;

/**
 * The example file: every key with its sentence, its bounds and its default, commented out. Only what
 * must be set is set, so that the file as it stands yields the defaults.
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
