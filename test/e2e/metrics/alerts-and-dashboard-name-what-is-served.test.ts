import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { packageRoot, startBox } from '../../support/box/postern-box.js';
import { makeCertificate } from '../../support/certificate.js';
import { type Scrape, scrapeUntil } from '../../support/metrics/scrape.js';
import { freePort } from '../../support/redis/own-redis.js';
import { temporaryFolder } from '../../support/redis/redis.js';

/** A metric that Prometheus makes of a scrape by itself. */
const ITS_OWN = ['up'];
/** Words of PromQL that look like names of metrics. */
const WORDS =
  /^(?:sum|rate|increase|changes|by|le|and|min|max|topk|time|histogram_quantile|predict_linear|instance|h|d|m)$/;
const IN_QUERY = /("(?:[^"\\]|\\.)*")|([a-zA-Z_:][a-zA-Z0-9_:]*)(\{[^}]*\})?/g;

interface Selector {
  readonly name: string;
  readonly labels: readonly { readonly label: string; readonly value: string; readonly operator: string }[];
}

/** The metrics that a query asks for. Labels after `by` stand in parentheses and are left out. */
function selectorsOf(query: string): Selector[] {
  const bare = query.replace(/\bby \([^)]*\)/g, '').replace(/\[[^\]]*\]/g, '');
  return [...bare.matchAll(IN_QUERY)].flatMap(([, quoted, name, braces = '']) => {
    if (quoted !== undefined || name === undefined || WORDS.test(name)) return [];
    const labels = [...braces.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)].map(
      ([, label = '', operator = '', value = '']) => ({ label, operator, value }),
    );
    return [{ name, labels }];
  });
}

/** Labels that Prometheus adds to what it scrapes. */
const ADDED = ['job', 'instance'];

function faultsOf(scrape: Scrape, query: string): string[] {
  const selectors = selectorsOf(query);
  if (selectors.length === 0) return [`no metric in: ${query}`];
  return selectors.flatMap(({ name, labels }) => {
    if (ITS_OWN.includes(name)) return [];
    if (!scrape.names.has(name)) return [`${name} is not served, in: ${query}`];
    const samples = scrape.samples.filter(one => one.name === name);
    return labels.flatMap(({ label, operator, value }) => {
      if (ADDED.includes(label)) return [];
      if (samples.length > 0 && !samples.some(one => label in one.labels))
        return [`${name} has no label ${label}`];
      const isThere = (wanted: string) => samples.some(one => one.labels[label] === wanted);
      const values = operator.endsWith('~') && !/[.*+]/.test(value) ? value.split('|') : [value];
      if (/[.*+]/.test(value) || samples.length === 0) return [];
      return values.filter(one => !isThere(one)).map(one => `${name} has no ${label}="${one}"`);
    });
  });
}

t.test('every rule and every panel asks for what a daemon serves', async t => {
  const port = await freePort();
  const env = { POSTERN_ADMIN_PORT: String(port), ...makeCertificate(temporaryFolder(t)) };
  const box = await startBox(t, { env });
  await createAgent(box);
  const scrape = await scrapeUntil(
    port,
    one => one.value('postern_http_requests_total', { status: '201' }) === 1,
  );

  const alerts = readFileSync(join(packageRoot, 'config/postern-alerts.yml'), 'utf8');
  const rules = alerts.split(/^ {6}- alert: /m).slice(1);
  t.ok(rules.length >= 15);
  for (const rule of rules) {
    const name = /^\w+/.exec(rule)?.[0] ?? '';
    const expression = /^ {8}expr: (?:>-\n((?: {10}.*\n)+)|(.*)\n)/m.exec(rule);
    t.strictSame(faultsOf(scrape, expression?.[1] ?? expression?.[2] ?? ''), [], name);
    t.match(
      rule,
      /severity: (?:critical|warning)\n[\s\S]*summary: .+\n\s+action: .+/,
      `${name} says what to do`,
    );
  }

  const dashboard: unknown = JSON.parse(
    readFileSync(join(packageRoot, 'config/postern-dashboard.json'), 'utf8'),
  );
  const { panels } = dashboard as {
    panels: { id: number; title: string; type: string; targets?: { expr: string }[] }[];
  };
  t.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  for (const { title, targets = [] } of panels) {
    for (const { expr } of targets) t.strictSame(faultsOf(scrape, expr), [], title);
  }

  // Names and units as Prometheus asks for.
  for (const [name, type] of scrape.types) {
    if (!name.startsWith('postern_')) continue;
    t.equal(name.endsWith('_total'), type === 'counter', `${name} is a ${type}`);
    t.notMatch(name, /_(?:ms|milliseconds|minutes|kib|mib|percent)(?:_|$)/);
    t.match(scrape.text, new RegExp(`^# HELP ${name} \\S.*\\.$`, 'm'));
  }
  // Each is asked for somewhere: what nobody looks at need not be served.
  const asked = `${alerts}${JSON.stringify(dashboard)}`;
  const unasked = [...scrape.types.keys()].filter(
    name => name.startsWith('postern_') && !asked.includes(name),
  );
  t.strictSame(unasked.sort(), ['postern_smtp_connections_total', 'postern_store_readers']);
});
