import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { inspect } from 'node:util';
import { type FinalResults, Parser, type Result, type TapError } from 'tap-parser';

/**
 * `npm test [-- FILTER...]`: runs the compiled test files and ends with the line `N passed, N failed`.
 *
 * Every file is a program that writes TAP (tap's own assertions do), so we start it with plain Node and
 * read what it says. tap's runner puts TypeScript loaders and coverage hooks before each file; on output
 * of tsc they do nothing and cost: 630 ms a trivial file against 140 ms (thirty files, two jobs).
 *
 * What is counted is a named test: the top-level test points of each file. A file that crashes, hangs,
 * ends with a non-zero code or holds no test counts as one failure.
 */

/**
 * In `TEST_MAY_SKIP`: tests may be skipped only for a reason that begins with this; any other skip counts as a failure.
 * Continuous integration sets it, so that nothing goes missing in silence.
 */
const maySkip = process.env.TEST_MAY_SKIP ?? '';

const folders = ['unit', 'contract', 'e2e', 'crash', 'abuse', 'upgrade'];
const jobs = Number(process.env.TEST_JOBS ?? 2);
const fileTimeoutS = Number(process.env.TEST_TIMEOUT_S ?? 480);
/** tap gives up first, so that it can name the test that hangs. */
const tapTimeoutS = Math.max(1, fileTimeoutS - 10);

const root = join(import.meta.dirname, '../../..');
const indent = '      ';

interface Tally {
  passed: number;
  failed: number;
  skipped: number;
}

interface FileReport extends Tally {
  readonly name: string;
  readonly durationMs: number;
  /** Why tests were skipped. */
  readonly reasons: readonly string[];
  /** What to print below the file's line. */
  readonly details: readonly string[];
}

/** From the sources, so that the output of a test that was deleted is not run. */
function findTests(filters: readonly string[]): string[] {
  const wanted = filters.map(filter =>
    filter.replace(/^(\.\/)?(dist\/)?test\//, '').replace(/\.test\.[jt]s$/, ''),
  );
  return folders
    .flatMap(folder => {
      const base = join(root, 'test', folder);
      if (!existsSync(base)) return [];
      const files = readdirSync(base, { recursive: true, encoding: 'utf8' });
      return files.sort().map(file => join(folder, file).split(sep).join('/'));
    })
    .filter(file => file.endsWith('.test.ts'))
    .map(file => file.slice(0, -'.test.ts'.length))
    .filter(name => wanted.length === 0 || wanted.some(filter => name.includes(filter)));
}

/** Collects the failures of a TAP stream and of the subtests in it, innermost first. */
function collectFailures(parser: Parser, into: string[], path: readonly string[] = []): void {
  parser.on('child', (child: Parser) => collectFailures(child, into, [...path, child.name]));
  parser.on('complete', (results: FinalResults) => {
    for (const failure of results.failures) {
      // The line that closes a failed subtest only repeats what the subtest has said.
      if (failure.closingTestPoint === true && into.length > 0) continue;
      into.push(describeFailure(failure, path));
    }
  });
}

function describeFailure(failure: TapError, path: readonly string[]): string {
  const { name, tapError } = failure as Partial<Result>;
  const lines = [[...path, name || tapError || 'unnamed'].join(' > ')];
  const { diff, at, stack, source, ...others } = (failure.diag ?? {}) as Record<string, unknown>;
  if (typeof diff === 'string') lines.push(diff.trimEnd());
  for (const [key, value] of Object.entries(others)) {
    if (key === 'compare') continue;
    lines.push(`${key}: ${typeof value === 'string' ? value : inspect(value, { depth: 6 })}`);
  }
  if (typeof source === 'string') lines.push(source.trimEnd());
  if (typeof stack === 'string') lines.push(stack.trimEnd());
  else if (at !== undefined) lines.push(`at: ${inspect(at, { breakLength: 200 })}`);
  return lines.join('\n');
}

function lastLines(text: string, count: number): string {
  return text.trimEnd().split('\n').slice(-count).join('\n');
}

const running = new Set<ChildProcess>();

/** Every file leads a process group of its own: daemons that a failed test left behind go with it. */
function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // Nobody of the group is left.
  }
}

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly isTimedOut: boolean;
}

function waitForEnd(child: ChildProcess): Promise<Ended> {
  return new Promise(resolve => {
    let isTimedOut = false;
    let killTimer: NodeJS.Timeout | undefined;
    const timer = setTimeout(() => {
      isTimedOut = true;
      child.kill('SIGTERM');
      killTimer = setTimeout(() => killGroup(child), 5_000);
    }, fileTimeoutS * 1_000);
    child.once('exit', () => {
      clearTimeout(timer);
      clearTimeout(killTimer);
      killGroup(child);
      // A process that left the group may still hold our pipes: their end is not waited for without limit.
      setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
      }, 2_000).unref();
    });
    child.once('close', (code, signal) => resolve({ code, signal, isTimedOut }));
  });
}

function testEnvironment(temporary: string): NodeJS.ProcessEnv {
  const hermetic = Object.entries(process.env).filter(
    ([key]) => !key.startsWith('POSTERN_') || key === 'POSTERN_CASES',
  );
  return { ...Object.fromEntries(hermetic), TAP_TIMEOUT: String(tapTimeoutS), TMPDIR: temporary };
}

async function runFile(name: string, temporary: string): Promise<FileReport> {
  const script = join(root, 'dist/test', `${name}.test.js`);
  if (!existsSync(script)) {
    const details = [`not compiled: ${relative(root, script)}`];
    return { name, passed: 0, failed: 1, skipped: 0, durationMs: 0, reasons: [], details };
  }
  const tally: Tally = { passed: 0, failed: 0, skipped: 0 };
  const failures: string[] = [];
  const skips: string[] = [];
  const reasons: string[] = [];
  const skip = (what: string, reason: string): void => {
    const line = `skipped: ${what}${reason === '' ? '' : ` (${reason})`}`;
    if (reason.startsWith(maySkip)) {
      tally.skipped += 1;
      reasons.push(reason);
      skips.push(line);
    } else {
      tally.failed += 1;
      failures.push(`${line}: it should run here`);
    }
  };
  let strayOutput = '';
  let results: FinalResults | undefined;

  const parser = new Parser();
  collectFailures(parser, failures);
  parser.on('assert', (point: Result) => {
    const reason = point.skip || point.todo;
    if (reason !== false) skip(point.name, typeof reason === 'string' ? reason : '');
    else if (point.ok) tally.passed += 1;
    else tally.failed += 1;
  });
  parser.on('extra', (text: string) => {
    strayOutput = (strayOutput + text).slice(-65_536);
  });
  parser.on('complete', (final: FinalResults) => {
    results = final;
  });

  const startedAt = performance.now();
  const child = spawn(process.execPath, ['--enable-source-maps', script], {
    cwd: root,
    env: testEnvironment(temporary),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  running.add(child);
  child.stdout.on('data', (chunk: Buffer) => parser.write(chunk));
  child.stderr.on('data', (chunk: Buffer) => {
    strayOutput = (strayOutput + chunk.toString('utf8')).slice(-65_536);
  });
  const ended = await waitForEnd(child);
  running.delete(child);
  parser.end();

  // tap says `1..0 # no tests found` of a file without tests: that is no skip.
  if (results?.plan.skipAll && results.plan.comment !== 'no tests found' && ended.code === 0) {
    skip('the whole file', results.plan.comment);
  } else if (tally.failed === 0) {
    const reason = endedBadly(ended, results);
    if (reason !== undefined) {
      tally.failed += 1;
      failures.push(reason);
    }
  }
  const details = tally.failed > 0 ? [...skips, ...failures] : skips;
  if (tally.failed > 0 && strayOutput.trim() !== '') {
    details.push(`it also wrote:\n${lastLines(strayOutput, 40)}`);
  }
  return { name, ...tally, durationMs: performance.now() - startedAt, reasons, details };
}

/** Why a file without a failed test is a failure all the same. */
function endedBadly(ended: Ended, results: FinalResults | undefined): string | undefined {
  if (ended.isTimedOut) return `still running after ${fileTimeoutS} s`;
  if (ended.signal !== null) return `ended by ${ended.signal}`;
  if (ended.code !== 0) return `ended with code ${ended.code}`;
  if (results?.bailout) return `bailed out: ${results.bailout}`;
  if (results === undefined || results.count === 0) return 'holds no test';
  if (!results.ok) return 'its plan and its tests do not agree';
  return undefined;
}

function print(report: FileReport): void {
  const verdict = report.failed > 0 ? 'FAIL' : 'ok  ';
  const time = `${Math.round(report.durationMs)} ms`;
  process.stdout.write(`${verdict}  ${report.name.padEnd(62)} ${words(report)}, ${time}\n`);
  for (const detail of report.details) process.stdout.write(`${detail.replaceAll(/^/gm, indent)}\n`);
}

function words({ passed, failed, skipped }: Tally): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

/** Each reason of skips once, with how many had it. */
function why(reasons: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const told = [...counts].map(([reason, count]) => `${reason || 'no reason given'} (${count})`);
  return told.length === 0 ? '' : `: ${told.join('; ')}`;
}

async function main(): Promise<void> {
  const queue = findTests(process.argv.slice(2));
  const fileCount = queue.length;
  const temporary = mkdtempSync(join(tmpdir(), 'postern-test-'));
  const startedAt = performance.now();
  const total: Tally = { passed: 0, failed: 0, skipped: 0 };
  const reasons: string[] = [];

  const stop = () => {
    for (const child of running) killGroup(child);
    rmSync(temporary, { recursive: true, force: true });
    process.exit(130);
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);

  const runNext = async (): Promise<void> => {
    for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
      const report = await runFile(name, temporary);
      total.passed += report.passed;
      total.failed += report.failed;
      total.skipped += report.skipped;
      reasons.push(...report.reasons);
      print(report);
    }
  };
  await Promise.all(Array.from({ length: jobs }, runNext));
  rmSync(temporary, { recursive: true, force: true });

  if (fileCount === 0) process.stdout.write('no test file matches\n');
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  process.stdout.write(`\n${fileCount} files, ${seconds} s\n${words(total)}${why(reasons)}\n`);
  process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0;
}

await main();
