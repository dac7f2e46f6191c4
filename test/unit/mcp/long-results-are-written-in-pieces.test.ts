import t from 'tap';
import { ResultBytes } from '../../../src/mcp/result-bytes.js';

/** What the client gets of a value, when the library makes an answer of the result that it has. */
async function sent(value: object, note: string | null = null) {
  const result = new ResultBytes({ json: JSON.stringify(value), note });
  const answer = JSON.stringify({ result: result.marked, jsonrpc: '2.0', id: 7 });
  const bytes = Buffer.concat(await result.fill(answer));
  const { result: got } = JSON.parse(bytes.toString('utf8'));
  return { answer, got };
}

t.test('what a tool has found arrives whole, as text and as structured content', async t => {
  const texts = [
    '',
    '"quotes", \\ and \r\n\t\u0000',
    `${'x'.repeat(65_500)}${'😀'.repeat(70_000)}`,
    `x${'😀'.repeat(70_000)}`,
    'half \ud83d of a pair',
    '{"mark":"00"}$&$1',
  ];
  for (const text of texts) {
    const value = { text, list: [{ text }], more: null };
    const { got } = await sent(value, 'Mind this.');
    t.same(got.structuredContent, value);
    t.same(JSON.parse(got.content[0].text), value);
    t.same(got.content[1], { type: 'text', text: 'Mind this.' });
    t.equal(got.content.length, 2);
  }
});

t.test('the library has little of it in hand', async t => {
  const { answer } = await sent({ text: 'x'.repeat(1_000_000) });
  t.ok(answer.length < 500, `${answer.length}`);
});
