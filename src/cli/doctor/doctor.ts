import { statfsSync } from 'node:fs';
import type { Command } from 'commander';
import { configWarnings } from '../../config/config-warnings.js';
import { loadConfig } from '../../config/load-config.js';
import { getMeta } from '../../store/engine/meta.js';
import { storeExists } from '../../store/engine/store.js';
import { readStatus } from '../../usecases/upkeep/read-status.js';
import type { Box } from '../context.js';
import { lookAtDns } from '../dns/dns.js';
import { type Answer, answer, failed } from '../outcome.js';
import { printable } from '../output.js';
import type { Cli } from '../run-command.js';
import { checkCertificates } from './certificate.js';
import { checkFiles } from './files.js';
import { error, type Finding, warning, when } from './finding.js';
import { checkClock, checkNode, checkRoom, checkTimeSource, checkUnit } from './machine.js';
import { checkDns, checkListeners, checkProxy, checkRedis } from './network.js';
import { checkBackup, checkWork } from './work.js';

const HELP = `
Looks at configuration, permissions, DNS, ports, certificate, clock, disk, Redis, the systemd unit, Node, the reverse
proxy, what waits and the last backup. Each finding says what is wrong, why it matters and what mends it.
Exit code 1: something is wrong now; 0: nothing is, or what is found can wait.
`;

/** `postern doctor`: what is wrong, or will be. */
export function addDoctorCommand(program: Command, cli: Cli): void {
  program
    .command('doctor')
    .description('look for whatever is wrong with the box, and say what mends it')
    .option('--try <domain>', 'a domain whose mail servers are tried', 'gmail.com')
    .addHelpText('after', HELP)
    .action(async ({ try: tried }: { try: string }) => {
      const early = await beforeTheStore(cli);
      if (early.some(({ id }) => id === 'config_wrong' || id === 'no_store'))
        return cli.plain(() => answerOf(early));
      return cli.read(async box => answerOf([...early, ...(await examine(cli, box, tried))]));
    });
}

/** What can be said before the store is opened, and this process has become its owner. */
async function beforeTheStore({ deps, configFile }: Cli): Promise<Finding[]> {
  const file = configFile();
  const loaded = loadConfig({ env: deps.env, cwd: deps.cwd, ...(file === undefined ? {} : { file }) });
  if (!loaded.ok) {
    return loaded.problems.map(({ where, what, fix }) =>
      error('config_wrong', { what: `${where}: ${what}`, why: 'The daemon does not start with it.', fix }),
    );
  }
  const { config } = loaded;
  const nowMs = deps.readClock().at;
  return [
    ...when(!storeExists(config.store.path), () =>
      error('no_store', {
        what: `there is no store in ${config.store.path}, or it is out of reach`,
        why: 'Without it there is no mail, and nothing else can be looked at.',
        fix: 'Run this as root or as its owner; if there is none yet, postern init',
      }),
    ),
    ...configWarnings(config).map(problem =>
      warning('config_unwise', {
        what: `${problem.where} ${problem.what}`,
        why: 'It is allowed, but probably not intended.',
        fix: problem.fix,
      }),
    ),
    ...checkFiles(config, loaded.file),
    ...checkCertificates(config, (await deps.certificates()).status(config), nowMs),
    ...checkNode(deps.nodeVersion ?? process.version, nowMs),
  ];
}

async function examine(cli: Cli, box: Box, tried: string): Promise<Finding[]> {
  const { deps } = cli;
  const { config, store, clock } = box;
  const { blocks, bsize } = statfsSync(store.path);
  const status = await readStatus({ ...box, readClock: deps.readClock });
  const redisUrl = config.redis.mode === 'external' ? (config.redis.url?.reveal() ?? '') : null;
  const backup = store.read(reader => getMeta(reader, 'lastBackup'));
  const outside = await deps.outside();
  const [listeners, proxy, dns, redis, time, unit] = await Promise.all([
    checkListeners(outside, config, status),
    checkProxy(config, status),
    lookAtDns(cli, box, tried),
    redisUrl === null ? null : outside.lookAtRedis(redisUrl),
    checkTimeSource(deps.env),
    checkUnit(
      deps.env,
      (await deps.memoryNeeds(config)).reduce((sum, { bytes }) => sum + bytes, 0),
    ),
  ]);
  return [
    ...listeners,
    ...checkRedis(deps, redis),
    ...checkRoom(config, status, { size: blocks * bsize }),
    ...checkDns(dns),
    ...proxy,
    ...checkClock(status),
    ...time,
    ...unit,
    ...checkWork(status),
    ...checkBackup(backup, clock()),
  ];
}

function answerOf(findings: readonly Finding[]): Answer {
  const errors = findings.filter(({ severity }) => severity === 'error');
  const sorted = [...errors, ...findings.filter(({ severity }) => severity === 'warning')];
  const document = { ok: errors.length === 0, findings: sorted };
  if (findings.length === 0) return answer(document, 'Nothing is wrong.\n');
  const text = sorted.map(render).join('\n');
  if (errors.length === 0) return answer(document, `Nothing is wrong now. To be looked at:\n\n${text}`);
  throw failed('unhealthy', `${errors.length} things are wrong:\n\n${text}`, document);
}

function render({ severity, id, what, why, fix }: Finding): string {
  return `${severity.toUpperCase()} ${id}: ${printable(what)}\n  why  ${printable(why)}\n  fix  ${printable(fix)}\n`;
}
