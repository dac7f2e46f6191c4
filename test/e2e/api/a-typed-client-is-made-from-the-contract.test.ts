import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import t from 'tap';
import { createAccountWithKey } from '../../support/box/agents.js';
import { packageRoot, startBox } from '../../support/box/postern-box.js';
import { readDocument } from '../../support/contract/served-contract.js';
import { temporaryFolder } from '../../support/redis/redis.js';
import { deliver } from '../../support/smtp/deliver.js';

const programs = join(packageRoot, 'test/e2e/typed-client');
const modules = join(packageRoot, 'node_modules');

const TSCONFIG = {
  compilerOptions: {
    target: 'ES2022',
    lib: ['ES2023', 'DOM'],
    module: 'NodeNext',
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: true,
    outDir: 'out',
  },
  include: ['*.mts'],
};

const box = await startBox(t);
const account = await createAccountWithKey(box, 'typed@agents.example.net');
const base = `http://127.0.0.1:${box.httpPort}`;
const folder = temporaryFolder(t);

/** The programs, and the types that they import, made by a generator that knows the document alone. */
async function prepare(): Promise<boolean> {
  const { paths } = await readDocument(box.httpPort);
  const canSend = '/v1/inboxes/{inbox_id}/sent' in (paths as object);
  for (const name of readdirSync(programs)) {
    if (name !== 'send.mts' || canSend) copyFileSync(join(programs, name), join(folder, name));
  }
  symlinkSync(modules, join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG));
  const generator = join(modules, 'openapi-typescript/bin/cli.js');
  const output = ['--output', join(folder, 'schema.d.ts')];
  await promisify(execFile)(process.execPath, [generator, `${base}/openapi.json`, ...output]);
  return canSend;
}

/** Compiles everything; the complaints of the compiler as `file:line`. */
async function compile(): Promise<string[]> {
  const compiler = join(modules, 'typescript/bin/tsc');
  const running = promisify(execFile)(process.execPath, [compiler, '--pretty', 'false'], { cwd: folder });
  const output = await running.then(
    ({ stdout }) => stdout,
    (error: { stdout: string }) => error.stdout,
  );
  const places = [...output.matchAll(/^(\S+)\((\d+),\d+\): error/gm)].map(
    ([, file, line]) => `${file}:${line}`,
  );
  return [...new Set(places)];
}

/** Runs a program; `onLine` hears its lines, the last one is its result. */
async function run(program: string, onLine: (line: string) => void = () => {}): Promise<unknown> {
  const child = spawn(process.execPath, [join(folder, 'out', program)], {
    env: { ...process.env, BASE_URL: base, API_KEY: account.credential },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  let last = '';
  createInterface({ input: child.stdout }).on('line', line => {
    last = line;
    onLine(line);
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${program} ended with ${code}`);
  return JSON.parse(last);
}

const canSend = await prepare();

t.test('the compiler lets right programs pass and stops at every wrong line', async t => {
  const wrong = readFileSync(join(programs, 'wrong.mts'), 'utf8').split('\n');
  t.strictSame(
    await compile(),
    wrong.flatMap((text, index) => (text.includes('// wrong') ? [`wrong.mts:${index + 1}`] : [])),
  );
});

t.test('the tour of an agent, written against those types, works', async t => {
  const message = 'From: Alex <alex@client.example>\r\nSubject: Hi\r\n\r\nHello.\r\n';
  const delivered: Promise<string>[] = [];
  const result = await run('tour.mjs', line => {
    if (line.startsWith('typed@')) delivered.push(deliver(box, line, message));
  });
  await Promise.all(delivered);
  t.strictSame(result, {
    replayed: true,
    from: { name: 'Alex', address: 'alex@client.example' },
    text: 'Hello.\n',
    rawBytes: message.length,
    labelled: ['handled'],
    labels: [{ name: 'handled', received_count: 1, sent_count: 0 }],
    trashed: 'trashed',
    gone: 'not_found',
    inTrash: [['received', true]],
    restored: 'restored',
  });
});

t.test('and so does sending', { skip: !canSend && 'there is no route yet' }, async t => {
  t.match(await run('send.mjs'), {
    status: 'accepted',
    to: [{ address: /^typed@/, name: 'Myself' }],
    subject: 'Typed',
  });
});
