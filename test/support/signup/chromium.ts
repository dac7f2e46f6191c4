import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';
import type { Test } from 'tap';

const PLACES = [process.env.CHROMIUM ?? '', '/usr/bin/chromium', '/usr/bin/chromium-browser'];

/** A real Chromium, or the reason why the tests that need one are skipped. */
export const chromiumPath: string | null = PLACES.find(path => path !== '' && existsSync(path)) ?? null;

export const NO_CHROMIUM =
  'there is no Chromium: apt-get install chromium, or name one in the variable CHROMIUM';

let launched: Promise<Browser> | null = null;

/** One browser for the tests of a file; closed after them. */
export function theBrowser(t: Test): Promise<Browser> {
  launched ??= chromium.launch({ executablePath: chromiumPath ?? '', args: ['--no-sandbox'] });
  const browser = launched;
  t.teardown(async () => {
    launched = null;
    await (await browser).close();
  });
  return browser;
}

/** A browser profile of its own, with a page. Whatever goes wrong in it is collected. */
export async function openProfile(
  t: Test,
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<{ readonly context: BrowserContext; readonly page: Page; readonly complaints: string[] }> {
  const context = await browser.newContext(options);
  t.teardown(() => context.close());
  context.setDefaultTimeout(20_000);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', message => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', error => void complaints.push(String(error)));
  page.on('requestfailed', request => void complaints.push(`${request.url()} failed`));
  return { context, page, complaints };
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface AxeResult {
  readonly violations: readonly { id: string; nodes: readonly { html: string; failureSummary?: string }[] }[];
}

/** What axe-core finds wrong with the page, best practices included. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  await page.evaluate(axeSource);
  const result = (await page.evaluate('axe.run(document, { resultTypes: ["violations"] })')) as AxeResult;
  return result.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ''}`),
  );
}

/** Pixels by which the page is wider than its window. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - window.innerWidth') as Promise<number>;
}

/** Keeps a picture of the whole page; SCREENSHOTS names another folder than the system's temporary one. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = join(process.env.SCREENSHOTS ?? tmpdir(), 'postern-screenshots');
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}
