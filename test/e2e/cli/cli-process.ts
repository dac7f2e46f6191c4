import { certificateTools } from '../../../src/app/certificate-tools.js';
import { openIndex } from '../../../src/app/open-index.js';
import { outside } from '../../../src/app/outside.js';
import { writeTo } from '../../../src/cli/output.js';
import { runCli } from '../../../src/cli/program.js';
import { readClock } from '../../../src/ops/read-clock.js';

/** The command line as a process of its own, without the daemon: for what only a process can show. */
process.exitCode = await runCli(process.argv.slice(2), {
  serve: async () => {
    process.stdout.write(`serving as ${process.getuid?.()}:${process.getgid?.()}\n`);
    return 0;
  },
  memoryNeeds: async () => [],
  version: '1.2.3',
  readClock,
  outside: async () => outside,
  certificates: async () => certificateTools,
  openIndex,
  stdin: () => process.stdin,
  stdout: writeTo(process.stdout),
  stderr: writeTo(process.stderr),
  terminals: { stdout: process.stdout.isTTY === true, stderr: process.stderr.isTTY === true },
  env: process.env,
  cwd: process.cwd(),
});
