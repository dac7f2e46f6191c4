import { existsSync, lstatSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import type { ConfigProblem } from '../../config/config-problem.js';
import { renderInitialConfig } from '../../config/example.js';
import { LOCAL_FILE, SYSTEM_FILE } from '../../config/layers.js';
import { type Config, loadConfig } from '../../config/load-config.js';
import { reasonOf } from '../../lib/async.js';
import { FileExistsError, Folder, type Owner, PRIVATE_FILE } from '../../store/private-files.js';
import { ensureOperator } from '../../usecases/accounts/accounts.js';
import { ensureDkimKeys } from '../../usecases/dkim/keys.js';
import { maxQueuedMs } from '../../usecases/dkim/limits.js';
import { configurationFailure, openBox } from '../context.js';
import type { CliDependencies } from '../dependencies.js';
import { type Answer, answer, CommandRefusal, failed } from '../outcome.js';
import type { Cli } from '../run-command.js';

interface InitOptions {
  readonly domain?: string;
  readonly data?: string;
  readonly force?: boolean;
}

/** `postern init`: a configuration and an empty store, to begin with. */
export function addInitCommand(program: Command, cli: Cli): void {
  program
    .command('init')
    .description('write a configuration and make an empty store; says what to do next')
    .option('--domain <domain>', "mail domain of the inboxes (default: this machine's name)")
    .option('--data <dir>', 'data directory; a store that is in it already is kept')
    .option('--force', 'write the configuration anew where there is one; never touches a store')
    .action((options: InitOptions) => cli.plain(() => init(cli, options)));
}

async function init(cli: Cli, options: InitOptions): Promise<Answer> {
  const { deps } = cli;
  const file = fileToWrite(deps, cli.configFile());
  const isForced = options.force === true;
  // A link that leads nowhere is there, too.
  if (!isForced && lstatSync(file, { throwIfNoEntry: false }) !== undefined) throw configExists(file);
  const text = renderInitialConfig({
    domain: options.domain ?? ownDomain(),
    dataDir: options.data === undefined ? defaultDataDir(file) : resolve(deps.cwd, options.data),
  });
  const config = writeConfig(deps, file, text, isForced);
  const { box, isNew } = await openBox(config, { makesStore: true });
  const { store, clock } = box;
  try {
    await ensureOperator({ store, clock, mail: config.mail });
    for (const domain of config.mail.domains) {
      await ensureDkimKeys({ store, clock, maxQueuedMs: maxQueuedMs(config) }, domain);
    }
  } finally {
    await store.close();
  }
  const { path } = config.store;
  const { domains } = config.mail;
  return answer(
    { config_file: file, data_dir: path, mail_domains: domains, store: isNew ? 'made' : 'kept' },
    nextSteps(cli, file, config, isNew),
  );
}

function fileToWrite({ env, cwd }: CliDependencies, named: string | undefined): string {
  const file = named ?? env.POSTERN_CONFIG;
  if (file !== undefined && file !== '') return resolve(cwd, file);
  const isSystemWide = process.getuid?.() === 0 && existsSync(dirname(SYSTEM_FILE));
  return isSystemWide ? SYSTEM_FILE : resolve(cwd, LOCAL_FILE);
}

/** A mail domain has two labels at least; `.localhost` is nobody's (RFC 6761 section 6.3). */
function ownDomain(): string {
  const name = hostname();
  return name.includes('.') ? name : 'postern.localhost';
}

function defaultDataDir(file: string): string {
  return file === SYSTEM_FILE ? '/var/lib/postern' : join(dirname(file), 'postern-data');
}

/**
 * Writes the configuration to a new file beside `file`, checks it together with the environment as every later command
 * does, and gives it the name `file` only when it is valid.
 */
function writeConfig(deps: CliDependencies, file: string, text: string, isForced: boolean): Config {
  try {
    const folder = Folder.make(dirname(file));
    try {
      return publishConfig(deps, folder, { file, text, isForced });
    } finally {
      folder.close();
    }
  } catch (error) {
    if (error instanceof CommandRefusal) throw error;
    if (error instanceof FileExistsError) throw configExists(file);
    throw failed(
      'not_permitted',
      `${file} cannot be written: ${reasonOf(error)}. Name another file with --config.`,
    );
  }
}

function publishConfig(
  deps: CliDependencies,
  folder: Folder,
  { file, text, isForced }: { readonly file: string; readonly text: string; readonly isForced: boolean },
): Config {
  const draft = folder.writeDraft(text, readersOf(folder));
  try {
    const path = join(dirname(file), draft);
    const loaded = loadConfig({ file: path, env: deps.env, cwd: deps.cwd });
    if (!loaded.ok) {
      throw configurationFailure(loaded.problems.map(problem => inPlace(problem, path, file)));
    }
    if (isForced) folder.replace(draft, basename(file));
    else folder.publish(draft, basename(file));
    return loaded.config;
  } catch (error) {
    folder.remove(draft);
    throw error;
  }
}

/**
 * Who may read the configuration, in which there may be a password: its owner. Root writes for whoever owns the folder:
 * the daemon, which is not root, has to read it, and where root owns the folder too, its group does.
 */
function readersOf(folder: Folder): { readonly mode: number; readonly owner: Owner | null } {
  const owner = process.getuid?.() === 0 ? folder.owner() : null;
  const isForGroup = owner !== null && owner.uid === 0 && owner.gid !== 0;
  return { mode: isForGroup ? 0o640 : PRIVATE_FILE, owner };
}

function configExists(file: string): CommandRefusal {
  return failed(
    'config_exists',
    `${file} exists already and was left as it is. Use it ("postern serve" makes the store where there is none), or write it anew with --force.`,
  );
}

/** Names the final file in a problem: the temporary one no longer exists when the message is read. */
function inPlace(problem: ConfigProblem, draft: string, file: string): ConfigProblem {
  return { ...problem, where: problem.where.replace(draft, file) };
}

function nextSteps({ deps }: Cli, file: string, config: Config, isNew: boolean): string {
  const isUsual = file === (existsSync(SYSTEM_FILE) ? SYSTEM_FILE : resolve(deps.cwd, LOCAL_FILE));
  const postern = isUsual ? 'postern' : `postern --config ${file}`;
  return `Wrote ${file} and ${isNew ? 'made an empty store in' : 'kept the store in'} ${config.store.path}.
Mail domain: ${config.mail.domains.join(', ')}

Next:
  ${postern} account create you@example.com
  ${postern} inbox create --account you@example.com agent
  ${postern} key create --account you@example.com
  ${postern} serve
`;
}
