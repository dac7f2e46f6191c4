import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { startBox } from '../../support/box/postern-box.js';
import { writeLetter } from '../../support/letters/letters.js';
import { deliver } from '../../support/smtp/deliver.js';

/** Bodies that a careless receiver would change. */
const bodies: Readonly<Record<string, Buffer | string>> = {
  'a short letter': writeLetter().raw,
  'lines that begin with dots': 'Subject: dots\r\n\r\n.\r\n..\r\n.hidden\r\n...three\r\n',
  'a first line that is a dot': '.\r\nSubject: not a header\r\n\r\ntext\r\n',
  'every octet that DATA may carry': Buffer.concat([
    Buffer.from('Subject: octets\r\n\r\n'),
    Buffer.from(Array.from({ length: 256 }, (_, octet) => octet).filter(o => ![0, 10, 13].includes(o))),
    Buffer.from('\r\n'),
  ]),
  'a header without a body': 'Subject: only a header\r\n',
  'nothing at all': '',
  'empty lines at both ends': '\r\n\r\n\r\ntext\r\n\r\n\r\n',
  'a line of 200,000 octets': `Subject: long line\r\n\r\n${'x'.repeat(200_000)}\r\n`,
  'one chunk of the store less an octet': writeOfSize(65_519),
  'one chunk of the store': writeOfSize(65_520),
  'one chunk of the store and an octet': writeOfSize(65_521),
  'several megabytes': writeLetter({ bytes: 5_000_000 }).raw,
};

t.test('acknowledged mail is read back byte for byte, and becomes ready', async t => {
  const box = await startBox(t);
  const agent = await createAgent(box);
  for (const [title, body] of Object.entries(bodies)) {
    const sent = Buffer.from(body);
    const id = await deliver(box, agent.address, sent);
    t.ok((await agent.api.raw(id)).equals(sent), `${title}: readable at once`);
    const detail = await agent.api.finished(id);
    t.equal(detail.processing_status, 'ready', `${title}: becomes ready`);
    t.equal(detail.raw_size, sent.length, `${title}: its size`);
    t.ok((await agent.api.raw(id)).equals(sent), `${title}: the same once it is ready`);
  }
  t.equal(await agent.api.count(agent.inboxId), Object.keys(bodies).length, 'each is there once');
});

function writeOfSize(bytes: number): Buffer {
  const head = 'Subject: a chunk\r\n\r\n';
  return Buffer.from(`${head}${'y'.repeat(bytes - head.length - 2)}\r\n`);
}
