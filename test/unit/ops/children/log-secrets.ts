import { createLogger } from '../../../../src/ops/logging.js';

const log = createLogger('info');
const secret = 'hunter2hunter2';
for (const name of ['credential', 'authorization', 'phrase', 'password', 'headers', 'body']) {
  log.info({ [name]: secret, id: 'kept' }, 'on top');
  log.info({ inner: { [name]: secret, id: 'kept' } }, 'one level down');
}
log.debug({ id: 'kept' }, 'not told');
log.error({ err: new Error('broken') }, 'an error');
log.fatal({}, 'the last line');
// Nothing is lost, however the process ends.
process.kill(process.pid, 'SIGKILL');
