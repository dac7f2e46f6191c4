/** Where a value comes from. */
export type ConfigSource =
  | { readonly kind: 'default' }
  | { readonly kind: 'file'; readonly file: string }
  | { readonly kind: 'environment'; readonly variable: string };

/** A value that somebody set, before it is checked. */
export interface Setting {
  readonly source: ConfigSource;
  /** As messages name the place. */
  readonly where: string;
  /** As TOML would give it; undefined when the text of a variable cannot be that. */
  readonly raw: unknown;
  /** As it was written, for messages. */
  readonly written: unknown;
  /** The folder that relative paths count from. */
  readonly folder: string;
}

/** Settings by dotted key. */
export type Settings = ReadonlyMap<string, Setting>;
