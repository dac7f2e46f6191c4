import { randomInt } from 'node:crypto';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import type { Upload } from '../../src/contract/uploads.js';
import { createAgent } from '../support/box/agents.js';
import { killRepeatedly } from '../support/box/kills.js';
import { startBox } from '../support/box/postern-box.js';
import { isAtRest, untilFacts } from '../support/box/store-facts.js';

const MIB = 2 ** 20;
const KILLS = 4;

interface Allowance {
  readonly storage_mib: { readonly used: number };
}

t.test(
  'uploads while the daemon is killed: what was answered is there, the rest was never counted',
  async t => {
    const box = await startBox(t, { env: { POSTERN_LIMITS_SENDS: '1000' } });
    const agent = await createAgent(box);
    const answered: Upload[] = [];
    const used = async () =>
      (await box.cliJson<Allowance>('allowance', 'show', '--account', agent.email)).storage_mib.used;
    const work = async (kill: number) => {
      let isOver = false;
      // Two that never come to their end, and others beside them that do.
      const halves = [0, 1].map(() => {
        const socket = connect(box.httpPort, '127.0.0.1');
        socket.on('error', () => {});
        const head = `POST /v1/uploads HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${agent.credential}\r\n`;
        socket.write(`${head}Content-Length: ${4 * MIB}\r\n\r\n`);
        socket.write(Buffer.alloc(3 * MIB));
        return socket;
      });
      const goal = answered.length + 3;
      const whole = (async () => {
        while (!isOver) {
          const body = Buffer.alloc(randomInt(300_000), kill);
          const answer = await agent.api.request('POST', '/v1/uploads', { body }).catch(() => null);
          if (answer?.status === 201) answered.push(answer.json<Upload>());
        }
      })();
      while (answered.length < goal) await delay(5);
      return async () => {
        isOver = true;
        await whole;
        for (const socket of halves) socket.destroy();
      };
    };
    await killRepeatedly(t, box, { kills: KILLS, withinMs: 40, work });
    const { faults, pending } = await untilFacts(box, isAtRest);
    t.same(faults, []);
    t.ok(pending['expire-upload'] >= answered.length, 'all that were answered');
    t.ok(pending['expire-upload'] <= answered.length + KILLS, 'and one a kill whose answer was lost');
    const counted = answered.reduce((sum, { size }) => sum + size + 1024, 0);
    t.ok((await used()) < (counted + KILLS * 302_000) / MIB, 'no half of one counts');
    for (const { upload_id } of answered) {
      const file = { filename: 'a.bin', type: 'a/b', upload_id };
      const body = { text: 'x', attachments: [file] };
      t.equal((await agent.api.post(`/v1/inboxes/${agent.inboxId}/drafts`, body)).status, 201);
      t.equal((await agent.api.delete(`/v1/uploads/${upload_id}`)).status, 202);
    }
    t.match(await box.cliJson('verify'), { sound: true });
  },
);
