import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import type { Test } from 'tap';
import { packageRoot } from '../box/postern-box.js';
import { temporaryFolder } from '../redis/redis.js';

const modules = join(packageRoot, 'node_modules');
/** Generators with many dependencies of their own, which nothing but one test needs. */
const generators = join(packageRoot, 'test/generators/node_modules');
const execute = promisify(execFile);

const COMPILER_OPTIONS = {
  target: 'ES2022',
  lib: ['ES2023', 'DOM', 'DOM.Iterable'],
  module: 'NodeNext',
  types: ['node'],
  strict: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: true,
  outDir: 'out',
};

/** A folder in which generators make clients, and programs that use these are compiled and run. */
export class ClientWorkshop {
  readonly #t: Test;
  readonly #folder: string;

  /** @param programs folder of the programs; they stand at the top of the workshop */
  constructor(t: Test, programs: string, compilerOptions: object = {}) {
    this.#t = t;
    this.#folder = temporaryFolder(t);
    for (const name of readdirSync(programs)) copyFileSync(join(programs, name), join(this.#folder, name));
    symlinkSync(modules, join(this.#folder, 'node_modules'));
    this.write('package.json', { type: 'module' });
    this.write('tsconfig.json', {
      compilerOptions: { ...COMPILER_OPTIONS, ...compilerOptions },
      include: ['*.mts'],
    });
  }

  write(name: string, content: object): void {
    writeFileSync(join(this.#folder, name), JSON.stringify(content));
  }

  /** Runs a script of an npm package, such as a generator, inside the workshop. Rejects when it fails. */
  async generate(script: string, ...args: readonly string[]): Promise<void> {
    const path = [modules, generators].map(folder => join(folder, script)).find(existsSync);
    if (path === undefined) throw new Error(`${script} is not installed: run bin/setup --tests`);
    await execute(process.execPath, [path, ...args], { cwd: this.#folder });
  }

  /** Compiles the programs and what they import; the complaints of the compiler. */
  async compile(): Promise<string[]> {
    const compiler = join(modules, 'typescript/bin/tsc');
    const running = execute(process.execPath, [compiler, '--pretty', 'false'], { cwd: this.#folder });
    const output = await running.then(
      ({ stdout }) => stdout,
      (error: { stdout: string }) => error.stdout,
    );
    // What is indented explains the line before it.
    return output.split('\n').filter(line => /^\S/.test(line));
  }

  /** Runs a program; `onLine` hears its lines, the last one is its result. */
  async run(
    program: string,
    env: NodeJS.ProcessEnv,
    onLine: (line: string) => void = () => {},
  ): Promise<unknown> {
    const child = spawn(process.execPath, [join(this.#folder, 'out', program)], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#t.teardown(() => child.kill('SIGKILL'));
    let last = '';
    createInterface({ input: child.stdout }).on('line', line => {
      last = line;
      onLine(line);
    });
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error(`${program} ended with ${code}`);
    return JSON.parse(last);
  }
}
