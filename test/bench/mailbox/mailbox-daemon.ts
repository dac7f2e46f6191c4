import type { Appliance, Mailbox } from '../appliance.js';
import { type BenchContext, withDaemon } from '../bench.js';
import { type HttpFigures, runHttpLoad } from '../load/run-http-load.js';
import { anonymousMib, pssMib } from '../measure/process-memory.js';
import { type Comparison, compare, whole } from '../measure/report.js';
import { median } from '../measure/statistics.js';
import { startHelloServer, startNaiveListServer } from '../peers/peers.js';

const CONNECTIONS = 50;

export interface DaemonFigures {
  readonly notes: readonly string[];
  readonly comparisons: readonly Comparison[];
}

/** Start, memory and lists over HTTP of a daemon on a large inbox. */
export async function measureDaemon(
  context: BenchContext,
  mailbox: Mailbox,
  size: number,
): Promise<DaemonFigures> {
  const startsMs: number[] = [];
  for (let run = 1; run < context.runs; run++) {
    startsMs.push(await withDaemon(mailbox, async ({ startMs }) => startMs));
  }
  return withDaemon(mailbox, async appliance => {
    startsMs.push(appliance.startMs);
    const lists = await measureLists(context, appliance, mailbox);
    const anonymous = anonymousMib(appliance.pid);
    return {
      notes: [...lists.notes, `daemon after that load: ${pssMib(appliance.pid).toFixed(0)} MiB PSS`],
      comparisons: [
        ...lists.comparisons,
        compare(
          'daemon, resident without mapped pages (RssAnon)',
          anonymous,
          { atMost: 200 },
          { unit: ' MiB', digits: 0 },
        ),
        compare(
          `start to ready, ${whole(size)} messages`,
          median(startsMs) / 1000,
          { atMost: 2 },
          { unit: ' s', digits: 2 },
        ),
      ],
    };
  });
}

async function measureLists(
  { isQuick, runs }: BenchContext,
  { httpPort, listPath, credential }: Appliance,
  mailbox: Mailbox,
): Promise<DaemonFigures> {
  const load = { connections: CONNECTIONS, durationMs: isQuick ? 1500 : 3000 };
  const [hello, naive] = [await startHelloServer(), await startNaiveListServer(mailbox)];
  const figures: Record<'list' | 'labelled' | 'naive' | 'hello', HttpFigures[]> = {
    list: [],
    labelled: [],
    naive: [],
    hello: [],
  };
  const labelledPath = `${listPath}&labels_all=read&labels_none=topic%201`;
  try {
    for (let run = 0; run < Math.max(runs, 3); run++) {
      figures.list.push(await runHttpLoad({ ...load, port: httpPort, path: listPath, credential }));
      figures.hello.push(await runHttpLoad({ ...load, port: hello.port, path: '/', credential: null }));
      figures.labelled.push(await runHttpLoad({ ...load, port: httpPort, path: labelledPath, credential }));
      figures.naive.push(await runHttpLoad({ ...load, port: naive.port, path: listPath, credential }));
    }
  } finally {
    await Promise.all([hello.stop(), naive.stop()]);
  }
  const rate = (of: keyof typeof figures): number => median(figures[of].map(run => run.perSecond));
  const p99 = (of: keyof typeof figures): number => median(figures[of].map(run => run.p99Ms));
  const names = Object.keys(figures) as (keyof typeof figures)[];
  return {
    notes: names.map(name => `${name}: ${whole(rate(name))} requests/s, p99 ${p99(name).toFixed(1)} ms`),
    comparisons: [
      compare('list of 20 over HTTP', rate('list') / rate('hello'), { atLeast: 0.5 }, ratio('hello world')),
      compare('list of 20 over HTTP', rate('list') / rate('naive'), { atLeast: 2.5 }, ratio('a naive list')),
      compare('list of 20, p99', p99('list') / p99('hello'), { atMost: 3 }, ratio("hello world's")),
      compare(
        'list of 20 by labels',
        rate('labelled') / rate('hello'),
        { atLeast: 0.5 },
        ratio('hello world'),
      ),
    ],
  };
}

function ratio(than: string): { unit: string; than: string; digits: number } {
  return { unit: 'x', than, digits: 2 };
}
