import type { Bench, BenchContext } from '../bench.js';
import { buildCorpus, CORPORA, type Corpus, type EngineName, type ParseOrder } from '../load/parse-corpus.js';
import { Engine, medianSpeeds, type Speed } from '../load/run-engine.js';
import { type Comparison, compare, type Report, times, whole } from '../measure/report.js';

const COLUMNS = [
  '',
  'one worker/s',
  'MiB/s',
  'parseMessage/s',
  'mailparser/s',
  'worker x mailparser',
  'parseMessage x mailparser',
];

type Speeds = Readonly<Record<EngineName, Speed | null>>;
type ParseEngine = Engine<ParseOrder>;

/** How fast is our parser, alone and as the daemon uses it, compared with plain mailparser, which is its engine? */
export const parseBench: Bench = {
  name: 'parse',
  title: 'messages parsed a second; mailparser: its simpleParser, conversions off',
  async run(context) {
    const engines = new Map<EngineName, ParseEngine>([
      ['one worker', startEngine('one worker')],
      ['parseMessage', startEngine('parseMessage')],
      ['mailparser', startEngine('mailparser')],
    ]);
    try {
      return toReport(await measure(context, engines), [
        // Beside other load on the machine a worker would look slower than it is.
        'parser threads run at low priority: the worker needs a quiet machine, more than the others do',
      ]);
    } finally {
      await Promise.all([...engines.values()].map(engine => engine.stop()));
    }
  },
};

function startEngine(engine: EngineName): ParseEngine {
  return new Engine('load/parse-engine.js', { engine });
}

async function measure(
  { isQuick, runs }: BenchContext,
  engines: ReadonlyMap<EngineName, ParseEngine>,
): Promise<ReadonlyMap<Corpus, Speeds>> {
  const durationMs = isQuick ? 300 : 700;
  const found = new Map<Corpus, Speeds>();
  for (const corpus of CORPORA) {
    if (buildCorpus(corpus).length === 0) continue;
    const speed = await medianSpeeds(engines, { corpus, durationMs }, runs);
    found.set(corpus, {
      'one worker': speed('one worker'),
      parseMessage: speed('parseMessage'),
      mailparser: speed('mailparser'),
    });
  }
  return found;
}

function toReport(found: ReadonlyMap<Corpus, Speeds>, notes: readonly string[]): Report {
  const perSecond = (speed: Speed | null): number => speed?.perSecond ?? 0;
  const rows = [...found].map(([corpus, speeds]) => {
    const theirs = speeds.mailparser?.perSecond ?? null;
    return [
      corpus,
      whole(perSecond(speeds['one worker'])),
      ((speeds['one worker']?.bytesPerSecond ?? 0) / 2 ** 20).toFixed(1),
      whole(perSecond(speeds.parseMessage)),
      theirs === null ? '-' : whole(theirs),
      times(perSecond(speeds['one worker']), theirs),
      times(perSecond(speeds.parseMessage), theirs),
    ];
  });
  const comparisons = [
    compareLowest('parse, through one worker', 'one worker', found),
    compareLowest('parse, the parser alone', 'parseMessage', found),
  ];
  return { columns: COLUMNS, rows, notes, comparisons };
}

/** The kind of message for which an engine does worst. */
function compareLowest(what: string, name: EngineName, found: ReadonlyMap<Corpus, Speeds>): Comparison {
  const words = { unit: 'x', than: 'mailparser', digits: 2 };
  const ratios = [...found].flatMap(([corpus, speeds]) => {
    const ours = speeds[name];
    const theirs = speeds.mailparser;
    return ours === null || theirs === null ? [] : [{ corpus, ratio: ours.perSecond / theirs.perSecond }];
  });
  const lowest = ratios.sort((a, b) => a.ratio - b.ratio)[0];
  if (lowest === undefined) return compare(what, null, { atLeast: 1 }, words);
  return compare(`${what}, at its worst (${lowest.corpus})`, lowest.ratio, { atLeast: 1 }, words);
}
