/** Something that is wrong, or will be. */
export interface Finding {
  /** Names the kind of fault, for scripts: add, never change. */
  readonly id: string;
  /** `error`: mail is lost, waits or is refused, or secrets are open. `warning`: it will be, or might. */
  readonly severity: 'error' | 'warning';
  readonly what: string;
  readonly why: string;
  /** The command that mends it, or what to do. */
  readonly fix: string;
}

type Words = Omit<Finding, 'id' | 'severity'>;

export function error(id: string, words: Words): Finding {
  return { id, severity: 'error', ...words };
}

export function warning(id: string, words: Words): Finding {
  return { id, severity: 'warning', ...words };
}

/** Nothing, or what is found when this holds. */
export function when(holds: boolean, finding: () => Finding): Finding[] {
  return holds ? [finding()] : [];
}
