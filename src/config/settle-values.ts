import { adviceFor, type ConfigProblem, howToSet } from './config-problem.js';
import type { ConfigValue, RawValue } from './key.js';
import { KEY_LIST, type NamedKey } from './key-list.js';
import type { ConfigSource, Setting, Settings } from './layers.js';
import type { SystemFacts } from './system-facts.js';
import { quoteValue } from './texts.js';

/** A checked value; `null` for an optional key that is not set. */
export interface SettledValue {
  readonly value: ConfigValue | null;
  readonly source: ConfigSource;
  /** The place, as messages name it. */
  readonly where: string;
}

/** Checked values by dotted key, without the keys that are wrong or missing. */
export type SettledValues = ReadonlyMap<string, SettledValue>;

export interface SettleInput {
  /** Settings by source; a later source overrides the earlier ones. */
  readonly layers: readonly Settings[];
  readonly facts: SystemFacts;
  readonly cwd: string;
  /** Whether missing keys are a problem. False when the file could not be read: it may set them. */
  readonly reportMissing: boolean;
}

/** The outcome of checking a setting or a default. `default` means that it gives no value. */
type Outcome =
  | { readonly kind: 'settled'; readonly settled: SettledValue }
  | { readonly kind: 'wrong'; readonly problem: ConfigProblem }
  | { readonly kind: 'default' };

/**
 * Checks every setting, overridden ones too, and fills in defaults for what was not set: first the plain ones, then
 * those derived from the machine or from other keys.
 */
export function settleValues(input: SettleInput): { values: SettledValues; problems: ConfigProblem[] } {
  const values = new Map<string, SettledValue>();
  const problems: ConfigProblem[] = [];
  const unset: NamedKey[] = [];
  for (const key of KEY_LIST) {
    const outcomes = input.layers.flatMap(layer => {
      const setting = layer.get(key.id);
      return setting === undefined ? [] : [checkSetting(key, setting)];
    });
    const wrong = outcomes.flatMap(outcome => (outcome.kind === 'wrong' ? [outcome.problem] : []));
    const last = outcomes.at(-1);
    if (wrong.length > 0) {
      problems.push(...wrong);
    } else if (last?.kind === 'settled') {
      values.set(key.id, last.settled);
    } else {
      unset.push(key);
    }
  }
  // Derived defaults look at other keys, so they come last.
  unset.sort((a, b) => Number(a.fallback.kind === 'derived') - Number(b.fallback.kind === 'derived'));
  for (const key of unset) {
    const outcome = settleDefault(key, values, input);
    if (outcome.kind === 'settled') {
      values.set(key.id, outcome.settled);
    } else if (outcome.kind === 'wrong') {
      problems.push(outcome.problem);
    }
  }
  return { values, problems };
}

function checkSetting(key: NamedKey, setting: Setting): Outcome {
  const { source, where, raw, written, folder } = setting;
  if (meansDefault(key, raw, written)) return { kind: 'default' };
  const checked = key.type.check(raw, folder);
  if (checked.ok) return { kind: 'settled', settled: { value: checked.value, source, where } };
  const shown = key.type.isSecret ? 'the value (not shown)' : quoteValue(written);
  const what = written === '' ? 'is empty' : `${shown} ${checked.wrong}`;
  return { kind: 'wrong', problem: { where, what, fix: adviceFor(key, checked.instead) } };
}

/** True for a value that stands for the default: an empty text, or the zero of a derived number. */
function meansDefault(key: NamedKey, raw: unknown, written: unknown): boolean {
  switch (key.fallback.kind) {
    case 'unset':
      return written === '';
    case 'derived':
      return written === '' || (key.fallback.placeholder === 0 && (raw === 0n || raw === 0));
    default:
      return false;
  }
}

function settleDefault(key: NamedKey, values: SettledValues, input: SettleInput): Outcome {
  const where = key.id;
  const source = { kind: 'default' } as const;
  switch (key.fallback.kind) {
    case 'unset':
      return { kind: 'settled', settled: { value: null, source, where } };
    case 'required':
      return input.reportMissing
        ? { kind: 'wrong', problem: { where, what: 'is not set', fix: howToSet(key) } }
        : { kind: 'default' };
    case 'value':
      return settleRaw(key, key.fallback.raw, 'the default', input.cwd);
    case 'derived': {
      const raw = key.fallback.derive(input.facts, id => {
        const value = values.get(id)?.value;
        return typeof value === 'string' ? value : null;
      });
      return raw === null
        ? { kind: 'default' }
        : settleRaw(key, raw, `the default (${key.fallback.from})`, input.cwd);
    }
  }
}

function settleRaw(key: NamedKey, raw: RawValue, called: string, folder: string): Outcome {
  const where = key.id;
  const checked = key.type.check(raw, folder);
  if (checked.ok) {
    return { kind: 'settled', settled: { value: checked.value, source: { kind: 'default' }, where } };
  }
  const what = `${called}, ${quoteValue(raw)}, ${checked.wrong}`;
  return { kind: 'wrong', problem: { where, what, fix: howToSet(key) } };
}
