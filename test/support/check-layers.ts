import { dirname, join } from 'node:path';
import { findCycles, type Import, type ImportGraph, readImportGraph } from './import-graph.js';

/**
 * The one rule of the layers as data: which folder may import which, and where each library lives.
 * `npm run check` runs this file; test/unit/house/layer-rule.test.ts proves that it catches breaches.
 */

/**
 * Beneath every layer, lowest first: tools that know nothing of mail, and what the API has promised its callers.
 * Every folder may import them, and each of them those before it.
 */
const floors = ['lib', 'contract'];
const adaptors = [
  'queue',
  'relay',
  'smtp',
  'http',
  'mcp',
  'workers',
  'cli',
  'signin',
  'search',
  'hooks',
  'metrics',
  'acme',
];
const beneathUsecases = ['domain', 'config', 'store', 'mail', 'dns'];
const beneathAdaptors = [...beneathUsecases, 'usecases'];
const beneathApp = [...beneathAdaptors, ...adaptors, 'ops'];

/** Folder -> the folders it may import besides itself and the floors. A folder that is not named here may not exist. */
const mayImport: ReadonlyMap<string, readonly string[]> = new Map([
  ...floors.map((floor): [string, string[]] => [floor, []]),
  ['domain', []],
  ['config', ['domain']],
  ['store', ['domain']],
  ['mail', ['domain']],
  ['dns', ['domain']],
  ['usecases', beneathUsecases],
  ...adaptors.map((adaptor): [string, string[]] => [adaptor, beneathAdaptors]),
  ['app', beneathApp],
  ['ops', []],
]);

/** Folder -> the folders it may know the types of; `app` hands it the things themselves. */
const mayImportTypes: ReadonlyMap<string, readonly string[]> = new Map([
  ...['config', 'store', 'mail', 'usecases', ...adaptors].map((folder): [string, string[]] => [
    folder,
    ['ops'],
  ]),
  ['ops', ['domain', 'config']],
]);

const libraryHomes: ReadonlyMap<string, readonly string[]> = new Map([
  ['@modelcontextprotocol/server', ['mcp']],
  ['bullmq', ['queue']],
  ['commander', ['cli']],
  ['dns-packet', ['dns']],
  ['iconv-lite', ['mail']],
  ['ioredis', ['queue']],
  ['libbase64', ['mail']],
  ['libsql', ['search']],
  ['lmdb', ['store']],
  ['mailauth', ['mail']],
  ['mailparser', ['mail']],
  ['nodemailer', ['mail', 'relay']],
  ['openid-client', ['signin']],
  ['pino', ['ops']],
  ['prom-client', ['metrics']],
  ['smol-toml', ['config']],
  ['smtp-server', ['smtp']],
  ['standardwebhooks', ['hooks']],
  ['tldts', ['mail']],
  ['zod', ['config', 'contract']],
]);

/** Room -> the files of it that others may import. The rest lends memory that the next call writes over. */
const doorsOf: ReadonlyMap<string, readonly string[]> = new Map([
  ['store/bitmap', ['store/bitmap/combinations.ts', 'store/bitmap/number-set.ts', 'store/bitmap/sets.ts']],
]);

/** The one file of `lib` that the domain and the contract may not import: they know neither waiting nor time. */
const timed = 'lib/async.ts';

const computation = ['buffer', 'crypto', 'net', 'url', 'util'];

/** Folder -> what it may use of Node, where that is not everything. */
const builtins: ReadonlyMap<string, { readonly allowed: readonly string[]; readonly reason: string }> =
  new Map([
    [
      'domain',
      { allowed: computation, reason: 'domain is pure rules and types, without input, output or time' },
    ],
    ['contract', { allowed: computation, reason: 'contract is types and limits, and does nothing' }],
    [
      'lib',
      {
        allowed: [...computation, 'timers', 'timers/promises'],
        reason: 'lib computes and waits, and does nothing else',
      },
    ],
  ]);

/** Every breach of the rule, as a sentence that says where, what and why. */
export function findBreaches(graph: ImportGraph): readonly string[] {
  const strays = graph.files
    .filter(file => !mayImport.has(folderOf(file)))
    .map(
      file => `src/${file}: not in a folder that has a layer; give the folder its place in check-layers.ts`,
    );
  const imports = graph.imports.flatMap(one => {
    const reason = breachOf(one);
    return reason === undefined ? [] : [`src/${one.from}:${one.line}: imports '${one.specifier}': ${reason}`];
  });
  const cycles = findCycles(graph).map(
    cycle => `import cycle: ${[...cycle, cycle[0]].map(file => `src/${file}`).join(' -> ')}`,
  );
  return [...strays, ...imports, ...cycles];
}

function breachOf({ from, target, isTypeOnly }: Import): string | undefined {
  const folder = folderOf(from);
  switch (target.kind) {
    case 'missing':
      return target.path.startsWith('../') ? 'outside src/' : `there is no src/${target.path}`;
    case 'builtin':
      return builtinBreach(folder, target.name);
    case 'package':
      return packageBreach(folder, target.name);
    case 'file':
      if (['domain', 'contract'].includes(folder) && target.path === timed)
        return `${folder} is without time: of lib it may import bytes.ts`;
      return doorBreach(from, target.path) ?? folderBreach(folder, folderOf(target.path), isTypeOnly);
  }
}

function builtinBreach(folder: string, name: string): string | undefined {
  const rule = builtins.get(folder);
  return rule === undefined || rule.allowed.includes(name) ? undefined : rule.reason;
}

function doorBreach(from: string, to: string): string | undefined {
  const room = dirname(to);
  const doors = doorsOf.get(room);
  if (doors === undefined || doors.includes(to) || dirname(from) === room) return undefined;
  return `others may import ${doors.join(' and ')} of ${room} only`;
}

function packageBreach(folder: string, name: string): string | undefined {
  const homes = libraryHomes.get(name);
  if (homes === undefined)
    return `${name} has no home yet; name the one folder it lives in in check-layers.ts`;
  return homes.includes(folder) ? undefined : `${name} lives in ${homes.join(' and ')} only`;
}

function folderBreach(from: string, to: string, isTypeOnly: boolean): string | undefined {
  const allowed = mayImport.get(from);
  // A folder without a layer is reported once for each of its files.
  if (from === to || isFloorOf(from, to) || allowed === undefined || allowed.includes(to)) return undefined;
  if (mayImportTypes.get(from)?.includes(to)) {
    return isTypeOnly ? undefined : `${from} may know types of ${to} only (write "import type")`;
  }
  if (adaptors.includes(from) && adaptors.includes(to)) return 'adaptors never import each other';
  return allowed.length === 0
    ? `${from} imports no other folder`
    : `${from} may import ${allowed.join(', ')} and nothing else`;
}

function isFloorOf(folder: string, floor: string): boolean {
  const at = floors.indexOf(floor);
  return at >= 0 && (!floors.includes(folder) || at < floors.indexOf(folder));
}

function folderOf(file: string): string {
  const slash = file.indexOf('/');
  return slash < 0 ? '' : file.slice(0, slash);
}

/** The libraries that have a home, for the test that holds this list and package.json together. */
export const housedLibraries: readonly string[] = [...libraryHomes.keys()];

export const sourceRoot = join(import.meta.dirname, '../../../src');

if (process.argv[1] === import.meta.filename) {
  const graph = readImportGraph(sourceRoot);
  const breaches = findBreaches(graph);
  for (const breach of breaches) process.stderr.write(`${breach}\n`);
  process.stdout.write(
    `layers: ${graph.files.length} files, ${graph.imports.length} imports, ${breaches.length} breaches\n`,
  );
  process.exitCode = breaches.length > 0 ? 1 : 0;
}
