import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { PosternBox } from '../box/postern-box.js';

/** Ends the Redis that the daemon of the box runs, as the kernel would; resolves when it runs again. */
export function killRedis(box: PosternBox): Promise<void> {
  return signalRedis(box, 'SIGKILL');
}

/** Stops that Redis where it stands; resolves when another one runs in its place. */
export function freezeRedis(box: PosternBox): Promise<void> {
  return signalRedis(box, 'SIGSTOP');
}

async function signalRedis(box: PosternBox, signal: NodeJS.Signals): Promise<void> {
  const back = box.hear(/^Redis runs again$/);
  process.kill(Number(readFileSync(join(box.dataDir, 'redis/redis.pid'), 'utf8')), signal);
  await back;
}

/** Says one command to the Redis of the box and takes its one-line answer. */
export function tellRedis(box: PosternBox, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(join(box.dataDir, 'redis/redis.sock'));
    socket.once('error', reject);
    socket.once('data', bytes => {
      socket.destroy();
      resolve(bytes.toString('latin1').trim());
    });
    socket.write(`${command}\r\n`);
  });
}
