import { ManagedRedis } from '../../../../src/queue/redis/managed-redis.js';
import { recordingLog } from '../../../support/redis/redis.js';

/** A process that only runs Redis, to be killed by a test. Its arguments: the data directory and PATH. */
const [dataDir = '', path = ''] = process.argv.slice(2);
const redis = new ManagedRedis({ dataDir, path, log: recordingLog() });
await redis.start();
process.stdout.write(`${JSON.stringify({ pid: redis.pid, socketPath: redis.socketPath })}\n`);
setInterval(() => undefined, 60_000);
