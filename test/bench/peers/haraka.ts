import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, startChild, stopChild } from '../child-process.js';
import { undoAtExit } from '../cleanup.js';
import { installedPackage } from './installed-package.js';
import { type Sink, untilGreeted } from './sink.js';

/** The newest version that runs on Node 20. */
const VERSION = '3.3.4';
const RECIPIENT = 'agent@haraka.test';

/**
 * Haraka from npm, in one process, with the minimum for accepting mail as durably as we do: a plugin that knows one
 * recipient, and flushes each message and its name in the folder to disk before the sender gets 250. Or the reason why
 * there is none.
 */
export async function startHaraka(): Promise<Sink | string> {
  const installed = await installedPackage('Haraka', VERSION);
  if ('obstacle' in installed) return `${installed.obstacle}: Haraka's columns are left out`;
  const folder = mkdtempSync(join(tmpdir(), 'bench-haraka-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  const isGone = undoAtExit(remove);
  const port = await freePort();
  writeFolder(folder, port);
  // Without a configuration file for connections, version 3.3.4 ends at the first greeting.
  copyFileSync(join(installed.folder, 'config/connection.ini'), join(folder, 'config/connection.ini'));
  const child = startChild(process.execPath, [join(installed.folder, 'bin/haraka'), '-c', folder], {
    // Its output at the start does not belong in the report.
    stdio: 'ignore',
    cwd: folder,
  });
  const stop = async (): Promise<void> => {
    await stopChild(child);
    isGone();
    remove();
  };
  try {
    await untilGreeted(child, port);
    return { port, recipient: RECIPIENT, stop };
  } catch (error) {
    await stop();
    return `Haraka ${VERSION} does not start, its columns are left out: ${error instanceof Error ? error.message : error}`;
  }
}

function writeFolder(folder: string, port: number): void {
  for (const name of ['config', 'plugins', 'mail']) mkdirSync(join(folder, name));
  const files = {
    // `nodes=0`: one process without the cluster module, as our daemon is one.
    'config/smtp.ini': `listen=127.0.0.1:${port}\nnodes=0\ndaemonize=false\n`,
    'config/me': 'haraka.bench.test\n',
    'config/loglevel': 'ERROR\n',
    'config/plugins': 'keep_on_disk\n',
    'plugins/keep_on_disk.js': keepOnDisk(join(folder, 'mail')),
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
}

/** `OK` and `DENY` are globals of a plugin. The descriptor of the folder stays open: that costs Haraka the least. */
function keepOnDisk(mail: string): string {
  return `'use strict';
const fs = require('node:fs');
const path = require('node:path');
const mail = ${JSON.stringify(mail)};
const folder = fs.openSync(mail, 'r');

exports.register = function () {
  this.register_hook('rcpt', 'know_recipient');
  this.register_hook('queue', 'keep');
};

exports.know_recipient = (next, connection, params) =>
  next(params[0].address.toLowerCase() === ${JSON.stringify(RECIPIENT)} ? OK : DENY);

exports.keep = (next, connection) => {
  const { uuid, message_stream: message } = connection.transaction;
  // \`flush\`: fsync before the file is closed.
  const file = fs.createWriteStream(path.join(mail, uuid + '.eml'), { flush: true });
  file.on('error', () => {});
  file.on('close', () => {
    if (file.errored) next(DENYSOFT);
    else fs.fsync(folder, error => next(error ? DENYSOFT : OK));
  });
  message.pipe(file);
};
`;
}
