import { quoteValue } from './quote-value.js';
import { invalid, type ValueType, valid } from './value-type.js';

/** A list without duplicates; in an environment variable its items are separated by commas. */
export function listOf(
  item: ValueType<string>,
  options: { readonly minItems?: number } = {},
): ValueType<readonly string[]> {
  const { minItems = 0 } = options;
  return {
    name: `list of ${item.name}s`,
    allowed: `${minItems > 0 ? `at least ${minItems}; ` : ''}no duplicates${item.allowed === '' ? '' : `; each ${item.allowed}`}`,
    isSecret: item.isSecret,
    check(raw, folder) {
      if (!Array.isArray(raw)) return invalid('is not a list in brackets');
      const values: string[] = [];
      for (const entry of raw as readonly unknown[]) {
        const checked = item.check(entry, folder);
        if (!checked.ok) {
          return invalid(`has an item, ${quoteValue(entry)}, that ${checked.wrong}`, checked.instead);
        }
        if (values.includes(checked.value)) return invalid(`names ${quoteValue(checked.value)} twice`);
        values.push(checked.value);
      }
      return values.length < minItems ? invalid(`has fewer than ${minItems}`) : valid(values);
    },
    fromText: given =>
      given.trim() === '' ? [] : given.split(',').map(entry => item.fromText(entry.trim())),
  };
}
