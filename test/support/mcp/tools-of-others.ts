import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../box/postern-box.js';

const modules = join(packageRoot, 'test/mcp-tools/node_modules/@modelcontextprotocol');

export interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program of `test/mcp-tools`: the conformance suite of the protocol, or the command line of its inspector. */
export function runOther(script: string, ...args: readonly string[]): Promise<Run> {
  const path = join(modules, script);
  if (!existsSync(path)) throw new Error(`${path} is not installed: run bin/setup --tests`);
  return new Promise(resolve => {
    execFile(process.execPath, [path, ...args], { maxBuffer: 64 * 2 ** 20 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr });
    });
  });
}

export const CONFORMANCE = 'conformance/dist/index.js';
export const INSPECTOR = 'inspector-cli/build/cli.js';
