import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import t from 'tap';
import { findBreaches, housedLibraries, sourceRoot } from '../../support/check-layers.js';
import { readImportGraph } from '../../support/import-graph.js';

/** Writes a made-up source tree (path -> text) and returns what the checker says of it. */
function check(sources: Record<string, string>): readonly string[] {
  const root = mkdtempSync(join(tmpdir(), 'layers-'));
  try {
    for (const [path, text] of Object.entries(sources)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    return findBreaches(readImportGraph(root));
  } finally {
    rmSync(root, { recursive: true });
  }
}

const leaf = 'export const x = 1;\nexport type X = number;\n';

t.test('our sources keep the rule', async t => {
  t.same(findBreaches(readImportGraph(sourceRoot)), []);
});

t.test('imports that follow the arrows pass', async t => {
  const breaches = check({
    'lib/async.ts': `import { setTimeout } from 'node:timers/promises';\nexport const x = 1;\n`,
    'lib/bytes.ts': leaf,
    'contract/limits.ts': `import { x } from '../lib/bytes.js';\nexport const y = x;\n`,
    'domain/limits.ts': `import { y } from '../contract/limits.js';\nexport type Y = typeof y;\n`,
    'domain/ids.ts': `import { x } from '../lib/bytes.js';\nexport type X = typeof x;\n`,
    'domain/address.ts': `import { createHash } from 'node:crypto';\nimport { x } from './ids.js';\n`,
    'config/load.ts': `import { z } from 'zod';\nimport { parse } from 'smol-toml';\nimport { x } from '../domain/ids.js';\n`,
    'store/store.ts': `import { open } from 'lmdb';\nimport type { X } from '../ops/logging.js';\n`,
    'mail/parse.ts': `import iconv from 'iconv-lite';\nimport encodings from 'iconv-lite/encodings/index.js';\n`,
    'usecases/accept.ts': `import { x } from '../store/store.js';\nimport { y } from '../lib/async.js';\nimport type { X } from '../mail/parse.js';\n`,
    'smtp/listener.ts': `import { SMTPServer } from 'smtp-server';\nimport '../usecases/accept.js';\n`,
    'workers/pool.ts': `new Worker(new URL('./thread.js', import.meta.url));\nnew URL('../page.html', import.meta.url);\n`,
    'workers/thread.ts': leaf,
    'ops/logging.ts': `import pino from 'pino';\nimport '../lib/async.js';\nimport type { X } from '../domain/ids.js';\n`,
    'app/main.ts': `import '../smtp/listener.js';\nimport '../ops/logging.js';\nconst x = await import('../workers/pool.js');\n`,
  });
  t.same(breaches, []);
});

const breaches: ReadonlyArray<readonly [claim: string, file: string, text: string, expected: RegExp]> = [
  [
    'the domain imports nothing above it',
    'domain/a.ts',
    `import { x } from '../store/leaf.js';`,
    /domain imports no other/,
  ],
  [
    'a type import counts',
    'domain/a.ts',
    `import type { X } from '../store/leaf.js';`,
    /domain imports no other/,
  ],
  [
    'the domain does no input or output',
    'domain/a.ts',
    `import { readFileSync } from 'node:fs';`,
    /domain is pure/,
  ],
  [
    'the domain does not wait',
    'domain/a.ts',
    `import { x } from '../lib/async.js';`,
    /domain is without time/,
  ],
  [
    'lib imports nothing of ours',
    'lib/a.ts',
    `import type { X } from '../domain/leaf.js';`,
    /lib imports no other/,
  ],
  [
    'nor what the API has promised',
    'lib/a.ts',
    `import type { X } from '../contract/leaf.js';`,
    /lib imports no other/,
  ],
  [
    'the contract imports nothing but lib',
    'contract/a.ts',
    `import type { X } from '../domain/leaf.js';`,
    /contract imports no other/,
  ],
  ['the contract does not wait', 'contract/a.ts', `import { x } from '../lib/async.js';`, /without time/],
  [
    'lib does no input or output',
    'lib/a.ts',
    `import { connect } from 'node:net';\nimport { readFileSync } from 'node:fs';`,
    /lib computes and waits/,
  ],
  [
    'the store does not import mail',
    'store/a.ts',
    `import { x } from '../mail/leaf.js';`,
    /store may import domain/,
  ],
  [
    'scratch memory stays in its room',
    'store/a.ts',
    `import type { X } from './bitmap/leaf.js';`,
    /others may import .*sets\.ts of store\/bitmap only/,
  ],
  [
    'mail does not import config',
    'mail/a.ts',
    `import { x } from '../config/leaf.js';`,
    /mail may import domain/,
  ],
  [
    'use cases do not import adaptors',
    'usecases/a.ts',
    `import { x } from '../queue/leaf.js';`,
    /usecases may import/,
  ],
  [
    'adaptors do not import each other',
    'http/a.ts',
    `import { x } from '../relay/leaf.js';`,
    /adaptors never/,
  ],
  ['nobody imports app', 'cli/a.ts', `import { x } from '../app/leaf.js';`, /cli may import/],
  ['ops offers types only', 'smtp/a.ts', `import { x } from '../ops/leaf.js';`, /may know types of ops only/],
  [
    'an inline type modifier still loads the module',
    'smtp/a.ts',
    `import { type X } from '../ops/leaf.js';`,
    /import type/,
  ],
  [
    'ops does not import the store',
    'ops/a.ts',
    `import type { X } from '../store/leaf.js';`,
    /ops imports no other/,
  ],
  ['a re-export counts', 'domain/a.ts', `export { x } from '../store/leaf.js';`, /domain imports no other/],
  [
    'a re-export of everything counts',
    'domain/a.ts',
    `export * from '../store/leaf.js';`,
    /domain imports no other/,
  ],
  ['a dynamic import counts', 'smtp/a.ts', `const x = await import('../http/leaf.js');`, /adaptors never/],
  [
    'an import inside a type counts',
    'mail/a.ts',
    `type X = import('../store/leaf.js').X;`,
    /mail may import/,
  ],
  ['a worker script counts', 'smtp/a.ts', `new URL('../http/leaf.js', import.meta.url);`, /adaptors never/],
  [
    'a worker script must exist',
    'smtp/a.ts',
    `new URL('./gone.js', import.meta.url);`,
    /there is no src\/smtp\/gone\.ts/,
  ],
  ['sources do not reach out of src', 'app/a.ts', `import '../../test/support/x.js';`, /outside src/],
  ['a library stays in its home', 'http/a.ts', `import { open } from 'lmdb';`, /lmdb lives in store only/],
  [
    'its sub-paths too',
    'http/a.ts',
    `import x from 'smtp-server/lib/x.js';`,
    /smtp-server lives in smtp only/,
  ],
  ['app uses no library itself', 'app/a.ts', `import pino from 'pino';`, /pino lives in ops only/],
  [
    'a new library needs a home',
    'http/a.ts',
    `import x from '@scope/left-pad/x';`,
    /@scope\/left-pad has no home/,
  ],
  ['a new folder needs a layer', 'utils/a.ts', leaf, /not in a folder that has a layer/],
  ['so does a file beside the folders', 'a.ts', leaf, /not in a folder that has a layer/],
];

const leaves = Object.fromEntries(
  [
    'contract',
    'domain',
    'store',
    'store/bitmap',
    'mail',
    'config',
    'queue',
    'relay',
    'http',
    'app',
    'ops',
  ].map(folder => [`${folder}/leaf.ts`, leaf]),
);
leaves['lib/async.ts'] = leaf;

for (const [claim, file, text, expected] of breaches) {
  t.test(`caught: ${claim}`, async t => {
    const found = check({ ...leaves, [file]: `\n${text}` });
    t.equal(found.length, 1, found.join('\n'));
    t.match(found[0], expected);
    t.ok(found[0]?.startsWith(`src/${file}:`), 'the message begins with the file');
  });
}

t.test('caught: a cycle, named from end to end', async t => {
  const found = check({
    'domain/a.ts': `import './b.js';`,
    'domain/b.ts': `import type { X } from './c.js';`,
    'domain/c.ts': `export * from './a.js';`,
  });
  t.same(found, ['import cycle: src/domain/a.ts -> src/domain/b.ts -> src/domain/c.ts -> src/domain/a.ts']);
});

t.test('imports in comments and strings are none', async t => {
  t.same(check({ 'domain/a.ts': `// import './b.js';\nconst x = "import './c.js'";\n` }), []);
});

const manifest = JSON.parse(readFileSync(join(sourceRoot, '../package.json'), 'utf8')) as {
  dependencies: Record<string, string>;
};

t.test('every dependency of the package has a home', async t => {
  const homeless = Object.keys(manifest.dependencies).filter(name => !housedLibraries.includes(name));
  t.same(homeless, []);
});

t.test('every library in use is a dependency of our own, not of another library', async t => {
  const used = readImportGraph(sourceRoot).imports.flatMap(({ target }) =>
    target.kind === 'package' ? [target.name] : [],
  );
  t.same(
    [...new Set(used)].filter(name => !(name in manifest.dependencies)),
    [],
  );
});
