import { spawn, spawnSync } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Test } from 'tap';
import { skipWithout } from '../installed.js';
import { temporaryFolder } from '../redis/redis.js';

/** Python has the sockets that Node has not: this one receives datagrams as systemd does, one line each. */
const LISTENER = `
import socket, sys
sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
sock.bind(sys.argv[1])
# What comes with a datagram, such as the descriptor with which systemd-notify waits, is closed: it has been seen.
import os, array
print("LISTENING", flush=True)
while True:
    data, ancillary, flags, _ = sock.recvmsg(65536, socket.CMSG_SPACE(64))
    for level, kind, content in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            for descriptor in array.array("i", content[:len(content) // 4 * 4]):
                os.close(descriptor)
    for line in data.decode().splitlines():
        print(line, flush=True)
`;

function missing(): string | null {
  if (spawnSync('systemd-notify', ['--version']).status !== 0) return 'needs systemd-notify';
  return spawnSync('python3', ['-c', 'import socket, array']).status === 0 ? null : 'needs python3';
}

export const skipWithoutNotify = skipWithout(missing());

/** A socket like that of systemd, and what has come to it. */
export class NotifySocket {
  readonly path: string;
  readonly heard: string[] = [];
  readonly #events = new EventEmitter();

  private constructor(path: string) {
    this.path = path;
  }

  static async listen(t: Test): Promise<NotifySocket> {
    const manager = new NotifySocket(join(temporaryFolder(t), 'notify'));
    const python = spawn('python3', ['-c', LISTENER, manager.path], { stdio: ['ignore', 'pipe', 'inherit'] });
    t.teardown(() => python.kill());
    await new Promise<void>(resolve => {
      createInterface({ input: python.stdout }).on('line', line => {
        if (line === 'LISTENING') resolve();
        else if (!line.startsWith('BARRIER=')) manager.heard.push(line);
        manager.#events.emit('line');
      });
    });
    return manager;
  }

  /** Resolves when this holds of what has come. */
  async until(isSo: (heard: readonly string[]) => boolean): Promise<void> {
    while (!isSo(this.heard)) await new Promise(resolve => this.#events.once('line', resolve));
  }

  count(line: string): number {
    return this.heard.filter(one => one === line).length;
  }
}
