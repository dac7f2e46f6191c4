import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import type { Test } from 'tap';

/** A port of the loopback interface that nobody listens on now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** A Redis that keeps nothing, as an operator might run it; ended after the test. */
export async function runRedis(t: Test, port: number, more: readonly string[] = []): Promise<ChildProcess> {
  const settings = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
    ...more,
  ];
  const redis = spawn('redis-server', settings, { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(async () => {
    if (redis.exitCode !== null || redis.signalCode !== null) return;
    redis.kill('SIGKILL');
    await once(redis, 'exit');
  });
  for await (const line of createInterface({ input: redis.stdout })) {
    if (line.includes('Ready to accept connections')) break;
  }
  redis.stdout.resume();
  return redis;
}
