import { connect, type Socket } from 'node:net';
import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { startBox } from '../../support/box/postern-box.js';
import { send, submission } from '../../support/sending/sending.js';

const STUCK = 12;

t.test(
  'more large bodies than are read at once: each has its turn, and small requests never wait',
  async t => {
    const box = await startBox(t, { env: { POSTERN_LIMITS_SENDS: '1000' } });
    const agent = await createAgent(box);
    const path = `/v1/inboxes/${agent.inboxId}/sent`;
    const sockets: Socket[] = [];
    for (let n = 0; n < STUCK; n++) {
      const socket = connect(box.httpPort, '127.0.0.1');
      socket.on('error', () => {});
      sockets.push(socket);
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${agent.credential}\r\nContent-Type: application/json\r\nContent-Length: 4000000\r\n\r\n{"text":"`,
      );
    }
    const small = await send(agent, submission(agent.address));
    t.equal(small.message.status, 'accepted', 'beside bodies that do not come to their end');
    const large = {
      filename: 'a.bin',
      type: 'application/octet-stream',
      content: Buffer.alloc(1_500_000).toString('base64'),
    };
    const sends = Array.from({ length: 10 }, () =>
      send(agent, submission(agent.address, { attachments: [large] })),
    );
    // Those that read and those that wait go away alike.
    for (const socket of sockets) socket.destroy();
    for (const { message } of await Promise.all(sends)) t.equal(message.status, 'accepted');
  },
);
