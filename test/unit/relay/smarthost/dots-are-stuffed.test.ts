import fc from 'fast-check';
import t from 'tap';
import { BLOCK_BYTES, FINAL_DOT, stuffDots } from '../../../../src/relay/session/content.js';
import { DataScanner } from '../../../../src/smtp/data-scanner.js';
import { attempt, withSmarthost } from './with-smarthost.js';

const stuffed = (content: Buffer) => Buffer.concat([...stuffDots(content), FINAL_DOT]);

/** Read back by the scanner of the SMTP listener, which shares no code with what is tested. */
function readBack(wire: Buffer): Buffer | null {
  const scan = new DataScanner().feed(Buffer.from(wire));
  return scan.status === 'end' && scan.rest.length === 0 ? Buffer.from(scan.content) : null;
}

t.test('whatever its lines are, a message is read back as it was and ends where it ends', async t => {
  const line = fc.constantFrom('', '.', '..', '...', '. ', '.x', 'x.', 'text', 'x'.repeat(70));
  fc.assert(
    fc.property(fc.array(line, { minLength: 1, maxLength: 50 }), lines => {
      const content = Buffer.from(`${lines.join('\r\n')}\r\n`);
      return readBack(stuffed(content))?.equals(content) === true;
    }),
  );
  t.equal(stuffed(Buffer.from('.\r\n')).toString(), '..\r\n.\r\n');
});

t.test('dots at every place around the edge of a block', async t => {
  for (let shift = -4; shift <= 4; shift += 1) {
    for (const tail of ['.\r\n', '\r\n.\r\n', '..\r\n.\r\n', '\r\n..x\r\n', 'x\r\n.\r\n.\r\n']) {
      const head = 'x'.repeat(BLOCK_BYTES + shift - tail.length);
      const content = Buffer.from(`${head}${tail}.\r\n${'.\r\n'.repeat(30_000)}`);
      t.ok(readBack(stuffed(content))?.equals(content), `${shift} ${JSON.stringify(tail)}`);
    }
  }
});

t.test('over the wire too', async t => {
  const { smarthost, transport } = await withSmarthost(t);
  const content = Buffer.from('.\r\n..\r\n.\r\n\r\n.x\r\n'.repeat(40_000));
  t.equal((await transport.submit(attempt({ content }))).status, 'accepted');
  t.ok(smarthost.submissions[0]?.content.equals(content));
});

t.test('a last line without its line end gets one, or the dot would be part of it', async t => {
  const { smarthost, transport } = await withSmarthost(t);
  t.equal((await transport.submit(attempt({ content: 'a: b\r\n\r\n.' }))).status, 'accepted');
  t.equal(smarthost.submissions[0]?.wire.toString(), 'a: b\r\n\r\n..\r\n.\r\n');
  t.equal(smarthost.submissions[0]?.mailParameters, ' SIZE=11');
});
