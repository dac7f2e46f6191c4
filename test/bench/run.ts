import { execFileSync } from 'node:child_process';
import { cpus, loadavg, release, tmpdir } from 'node:os';
import type { Bench, BenchContext } from './bench.js';
import { inboundBenches } from './inbound.js';
import { mailboxBenches } from './mailbox.js';
import { type Comparison, renderComparisons, renderReport } from './measure/report.js';
import { outboundBenches } from './outbound.js';

/**
 * `npm run bench [-- NAME...] [--quick]`: runs the benches and prints what they measured. The exit code is
 * non-zero when one of them could not run, never for a figure.
 */

const RUNS = 3;
const BENCHES: readonly Bench[] = [...inboundBenches, ...mailboxBenches, ...outboundBenches];

async function main(args: readonly string[]): Promise<number> {
  const names = args.filter(argument => argument !== '--quick');
  const unknown = names.filter(name => !BENCHES.some(bench => bench.name === name));
  if (unknown.length > 0) {
    console.error(
      `There is no bench ${unknown.join(', ')}. There are: ${BENCHES.map(({ name }) => name).join(', ')}.`,
    );
    return 2;
  }
  const isQuick = args.includes('--quick');
  const context: BenchContext = { isQuick, runs: isQuick ? 1 : RUNS };
  console.log(describeMachine(context));
  const comparisons: Comparison[] = [];
  let failures = 0;
  for (const bench of BENCHES) {
    if (names.length > 0 && !names.includes(bench.name)) continue;
    const startedAt = performance.now();
    try {
      const report = await bench.run(context);
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
      process.stdout.write(renderReport(`${bench.name}: ${bench.title} [${seconds} s]`, report));
      comparisons.push(...report.comparisons);
    } catch (error) {
      failures += 1;
      console.error(`\n${bench.name}: could not be run\n`, error);
    }
  }
  process.stdout.write(renderComparisons(comparisons));
  console.log(`load ${loadavg()[0]?.toFixed(2)} after; medians hold only when nothing else ran`);
  return failures === 0 ? 0 : 1;
}

function describeMachine({ isQuick, runs }: BenchContext): string {
  const [cpu] = cpus();
  const load = loadavg()[0]?.toFixed(2);
  const fileSystem = execFileSync('stat', ['-f', '-c', '%T', tmpdir()], { encoding: 'utf8' }).trim();
  return [
    `${cpus().length} x ${cpu?.model ?? 'processor'}, Linux ${release()}, node ${process.version}, load ${load} before`,
    `data in ${tmpdir()} (${fileSystem})`,
    // On tmpfs fdatasync does nothing, so durable writes look fast.
    ...(fileSystem === 'tmpfs'
      ? ['MEMORY FILE SYSTEM: flushes cost nothing here; set TMPDIR to a disk']
      : []),
    isQuick ? 'quick: small counts, one run; no figures to quote' : `medians of ${runs} interleaved runs`,
  ].join('\n');
}

process.exitCode = await main(process.argv.slice(2));
