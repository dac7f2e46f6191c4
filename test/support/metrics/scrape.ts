import { request } from 'node:http';

/** A line of what Prometheus reads. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** What a daemon serves at `/metrics`, read as Prometheus reads it. */
export class Scrape {
  readonly text: string;
  readonly samples: readonly Sample[];
  /** By name: counter, gauge or histogram. */
  readonly types: ReadonlyMap<string, string>;

  constructor(text: string) {
    this.text = text;
    this.types = new Map(
      [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]),
    );
    this.samples = text
      .split('\n')
      .filter(line => line !== '' && !line.startsWith('#'))
      .map(readSample);
  }

  /** The value of the one sample that has these labels; undefined when there is none. */
  value(name: string, labels: Readonly<Record<string, string>> = {}): number | undefined {
    return this.samples.find(
      one =>
        one.name === name && Object.entries(labels).every(([label, value]) => one.labels[label] === value),
    )?.value;
  }

  /** Names that a query may use, those of the series of histograms included. */
  get names(): ReadonlySet<string> {
    const series = [...this.types].flatMap(([name, type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    );
    return new Set(series);
  }
}

function readSample(line: string): Sample {
  const match = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
  if (match === null) throw new Error(`not a sample: ${line}`);
  const labels = [...(match[2] ?? '').matchAll(/([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"/g)];
  return {
    name: match[1] ?? '',
    labels: Object.fromEntries(labels.map(([, name = '', value = '']) => [name, value])),
    value: Number(match[3]),
  };
}

/** A GET or another request to the listener of a daemon's figures. */
export function ask(
  port: number,
  path = '/metrics',
  method = 'GET',
): Promise<{ readonly status: number; readonly type: string; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method, agent: false }, response => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', chunk => {
        text += chunk;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, type: response.headers['content-type'] ?? '', text }),
      );
    });
    sent.once('error', reject);
    sent.end();
  });
}

/** Scrapes until this holds: figures are a second old at most, and work goes on behind an answer. */
export async function scrapeUntil(port: number, isSo: (scrape: Scrape) => boolean): Promise<Scrape> {
  for (;;) {
    const { text } = await ask(port);
    const scrape = new Scrape(text);
    if (isSo(scrape)) return scrape;
    await new Promise(resolve => setTimeout(resolve, 250));
  }
}
