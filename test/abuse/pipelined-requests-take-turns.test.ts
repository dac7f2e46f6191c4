import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { connect as connectSecurely } from 'node:tls';
import t from 'tap';
import { createAgent } from '../support/box/agents.js';
import { startBox } from '../support/box/postern-box.js';
import { makeIdentity } from '../support/certificate.js';
import { temporaryFolder } from '../support/redis/redis.js';
import { askEveryMoment } from './asked-every-moment.js';
import { watchGrowth } from './process-facts.js';
import { warmUp } from './warm-up.js';

const MAY_GROW_MIB = 160;
const REQUEST = 'GET /v1/inboxes HTTP/1.1\r\nHost: x\r\n\r\n';
const FLOOD_BYTES = 8 * 2 ** 20;
const WATCHED_MS = 3_000;

for (const reads of [true, false]) {
  t.test(`eight megabytes of requests, answers ${reads ? 'read' : 'never read'}`, async t => {
    const box = await startBox(t);
    await warmUp(box, await createAgent(box));
    const socket = connect(box.httpPort, '127.0.0.1');
    socket.on('error', () => {});
    t.teardown(() => socket.destroy());
    await once(socket, 'connect');
    let readBytes = 0;
    if (reads) {
      socket.on('data', chunk => {
        readBytes += chunk.length;
      });
    }
    if (!reads) socket.pause();
    const growth = watchGrowth(box.pid);
    const asked = askEveryMoment(box.httpPort);
    socket.write(REQUEST.repeat(Math.ceil(FLOOD_BYTES / REQUEST.length)));
    await delay(WATCHED_MS);
    const longestMs = await asked.stop();
    const grownMib = growth.stop();
    t.comment(
      `${grownMib.toFixed(0)} MiB, /healthz ${Math.round(longestMs)} ms, ${readBytes} bytes of answers`,
    );
    t.ok(grownMib < MAY_GROW_MIB, `the daemon grew by ${grownMib.toFixed(0)} MiB`);
    if (reads) t.ok(readBytes > 0, 'it is answered all the while');
  });
}

t.test('eight megabytes of requests over TLS', async t => {
  const { certFile, keyFile } = makeIdentity(temporaryFolder(t), 'DNS:api.example.org');
  const box = await startBox(t, {
    env: { POSTERN_HTTP_TLS: 'files', POSTERN_HTTP_TLS_CERT: certFile, POSTERN_HTTP_TLS_KEY: keyFile },
  });
  const socket = connectSecurely({ host: '127.0.0.1', port: box.httpPort, rejectUnauthorized: false });
  socket.on('error', () => {});
  t.teardown(() => socket.destroy());
  await once(socket, 'secureConnect');
  let readBytes = 0;
  socket.on('data', (chunk: Buffer) => {
    readBytes += chunk.length;
  });
  const growth = watchGrowth(box.pid);
  socket.write(REQUEST.repeat(Math.ceil(FLOOD_BYTES / REQUEST.length)));
  await delay(WATCHED_MS);
  const grownMib = growth.stop();
  t.comment(`${grownMib.toFixed(0)} MiB, ${readBytes} bytes of answers`);
  t.ok(grownMib < MAY_GROW_MIB, `the daemon grew by ${grownMib.toFixed(0)} MiB`);
  t.ok(readBytes > 0, 'it is answered all the while');
});
