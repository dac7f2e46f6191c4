import { escapeHtml } from '../../domain/text.js';

/** Markup, as opposed to text. Made by `html` only. */
export class Html {
  readonly markup: string;

  private constructor(markup: string) {
    this.markup = markup;
  }

  /** For `html` and for constants of our own; never for anything from outside. */
  static trusted(markup: string): Html {
    return new Html(markup);
  }
}

type Insert = string | number | Html | readonly Html[] | null;

/**
 * A template tag for markup. Inserted texts are escaped for content and quoted attributes (HTML standard, section
 * 13.3), inserted markup is kept, null inserts nothing.
 */
export function html(strings: TemplateStringsArray, ...inserts: readonly Insert[]): Html {
  const parts = strings.map((literal, at) => literal + render(inserts[at] ?? null));
  return Html.trusted(parts.join(''));
}

function render(insert: Insert): string {
  if (insert === null) return '';
  if (insert instanceof Html) return insert.markup;
  if (typeof insert === 'object') return insert.map(part => part.markup).join('');
  return escapeHtml(String(insert));
}
