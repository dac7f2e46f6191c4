import { createHash } from 'node:crypto';
import type { PageHeaders, Reply } from '../server/route.js';
import { Html, html } from './html.js';
import { COPY_SCRIPT, STYLE } from './style.js';

/** The service as named on every page. */
export interface PageService {
  readonly name: string;
  readonly publicUrl: string;
  readonly policyUrl: string;
}

export interface PageContent {
  readonly status?: number;
  readonly title: string;
  /** What follows the heading; the heading is the title. */
  readonly body: Html;
  readonly headers?: PageHeaders;
  /** The page has words to copy. */
  readonly hasCopyButton?: boolean;
  /** The page shows a form again because of an error in it. */
  readonly isError?: boolean;
}

/** Builds pages with the same frame and the same security headers. */
export class Layout {
  readonly service: PageService;
  /** The path of the public URL, when a proxy serves us below one. */
  readonly #prefix: string;

  constructor(service: PageService) {
    this.service = service;
    this.#prefix = new URL(service.publicUrl).pathname.replace(/\/+$/, '');
  }

  /** The path as the browser has to request it, with the prefix of the public URL. */
  path(path: string): string {
    return `${this.#prefix}${path}`;
  }

  page(content: PageContent): Reply {
    const { status = 200, headers = {}, hasCopyButton = false } = content;
    return {
      kind: 'page',
      status,
      headers: { ...guards(hasCopyButton), ...headers },
      html: this.#render(content),
    };
  }

  /** A redirect with 303, which the browser follows with GET. */
  redirect(location: string, headers: PageHeaders = {}): Reply {
    const body = html`<p><a href="${location}">Go on</a></p>`;
    return this.page({ status: 303, title: 'Go on', body, headers: { ...headers, Location: location } });
  }

  #render({ title, body, isError = false, hasCopyButton = false }: PageContent): string {
    const { name, policyUrl } = this.service;
    return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${isError ? 'Error: ' : ''}${title} - ${name}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<style>${Html.trusted(STYLE)}</style>
</head>
<body>
<header><a href="${this.path('/')}">${name}</a></header>
<main>
<h1>${title}</h1>
${body}
</main>
<footer><ul>
<li><a href="${this.path('/approve')}">Approve access</a></li>
<li><a href="${policyUrl}">Rules of use</a></li>
<li><a href="${this.path('/openapi.json')}">API description</a></li>
</ul></footer>
${hasCopyButton ? html`<script>${Html.trusted(COPY_SCRIPT)}</script>` : null}
</body>
</html>
`.markup;
  }
}

/**
 * Security headers of a page: only its own style and script run, forms go to us only, no other page can frame it or
 * keep a reference to its window, and links send no referrer.
 */
function guards(hasScript: boolean): PageHeaders {
  const policy = [
    "default-src 'none'",
    `style-src '${STYLE_HASH}'`,
    ...(hasScript ? [`script-src '${SCRIPT_HASH}'`] : []),
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ];
  return {
    'Content-Security-Policy': policy.join('; '),
    'Referrer-Policy': 'no-referrer',
    'X-Frame-Options': 'DENY',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'X-Robots-Tag': 'noindex',
  };
}

const STYLE_HASH = hashOf(STYLE);
const SCRIPT_HASH = hashOf(COPY_SCRIPT);

/** A hash source (Content Security Policy level 3, section 2.3.1). */
function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
