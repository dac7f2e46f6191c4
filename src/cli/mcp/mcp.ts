import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Config } from '../../config/load-config.js';
import { MCP_PATH } from '../../contract/tools/endpoint.js';
import { reasonOf } from '../../lib/async.js';
import { type Answer, EXIT, failed } from '../outcome.js';
import type { Cli } from '../run-command.js';
import { bridge } from './bridge.js';

interface Options {
  readonly keyFile?: string;
  readonly url?: string;
}

/** `postern mcp`: the tools for a program on this machine that starts its servers itself. */
export function addMcpCommand(program: Command, cli: Cli): void {
  program
    .command('mcp')
    .description(
      'tools for an agent (Model Context Protocol) on standard input and output, passed on to the daemon; the key is in --key-file or POSTERN_KEY',
    )
    .option('--key-file <file>', 'file that holds the key of the account')
    .option('--url <url>', 'where the daemon is reached (default: its HTTP listener by the configuration)')
    .action((options: Options) => cli.plain(() => run(cli, options)));
}

async function run(cli: Cli, options: Options): Promise<Answer> {
  const { stdin, stdout, stderr } = cli.deps;
  const key = readKey(cli, options.keyFile);
  const base = options.url ?? listenerUrl(cli.readConfig().config);
  if (!/^https?:\/\//.test(base) || !URL.canParse(base)) {
    throw failed('usage', `${base} is no URL; give one like http://127.0.0.1:8025 with --url.`);
  }
  const url = base.replace(/\/+$/, '').replace(/(\/mcp)?$/, MCP_PATH);
  await bridge({ url, key, input: stdin(), write: stdout, warn: stderr });
  return { kind: 'ended', exitCode: EXIT.done };
}

function readKey({ deps }: Cli, file: string | undefined): string {
  const text = file === undefined ? (deps.env.POSTERN_KEY ?? '') : readKeyFile(resolve(deps.cwd, file));
  const key = text.trim();
  if (/^\S+$/.test(key)) return key;
  const where = file === undefined ? 'POSTERN_KEY is not set' : `${file} does not hold one key`;
  throw failed('usage', `${where}: name a file with the key of the account (pst_...) with --key-file.`);
}

function readKeyFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw failed(
      'usage',
      `The key file cannot be read: ${reasonOf(error)}. Check --key-file and who may read it.`,
    );
  }
}

/** The listener as this machine reaches it. */
function listenerUrl({ http }: Config): string {
  if (http.port === 0)
    throw failed('usage', 'http.port is 0, any free port: say where the daemon is with --url.');
  const host =
    new Map([
      ['0.0.0.0', '127.0.0.1'],
      ['::', '::1'],
    ]).get(http.host) ?? http.host;
  return `http://${host.includes(':') ? `[${host}]` : host}:${http.port}`;
}
