import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { startBox } from '../../support/box/postern-box.js';
import { mixedMessage } from '../../support/letters/mixed-message.js';
import { deliver } from '../../support/smtp/deliver.js';

// The headers of `downloadAttachment` and `downloadRawMessage` (`DOWNLOAD_HEADERS` in src/contract/operation.ts).
t.test('attachments and raw messages are downloaded as files that nothing will run', async t => {
  const box = await startBox(t);
  const agent = await createAgent(box);
  const sent = mixedMessage();
  const id = await deliver(box, agent.address, sent.raw);
  const content = await agent.api.content(id);
  t.match(content, { subject: 'Grüße', text: sent.text.trimEnd(), html: sent.html.trimEnd() });
  t.same(
    content.attachments.map(({ filename, mime_type, size }) => [filename, mime_type, size]),
    sent.attachments.map(({ filename, type, bytes }) => [filename, type, bytes.length]),
  );

  const common = {
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "sandbox; default-src 'none'",
    'x-request-id': /^[0-9a-f-]{36}$/,
  };
  const names = [
    'attachment; filename="blob.bin"',
    /^attachment; filename="[ -~]*"; filename\*=UTF-8''%C3%9Cbersicht%20%E2%80%9C2026%E2%80%9D%20%E6%9D%B1%E4%BA%AC\.pdf$/,
    'attachment; filename="empty.txt"',
  ];
  for (const [index, { filename, bytes }] of sent.attachments.entries()) {
    const path = `/v1/messages/${id}/attachments/${content.attachments[index]!.id}`;
    const got = await agent.api.get(path);
    t.equal(got.status, 200);
    t.ok(got.bytes.equals(bytes), `${filename}: its bytes`);
    const headers = {
      ...common,
      'content-type': 'application/octet-stream',
      'content-length': String(bytes.length),
      'content-disposition': names[index],
    };
    t.match(got.headers, headers, `${filename}: its headers`);
    const head = await agent.api.request('HEAD', path);
    t.equal(head.status, 200);
    t.equal(head.bytes.length, 0);
    t.match(head.headers, headers, `${filename}: HEAD`);
  }
  const raw = await agent.api.get(`/v1/messages/${id}/raw`);
  t.match(raw.headers, {
    ...common,
    'content-type': 'message/rfc822',
    'content-length': String(sent.raw.length),
    'content-disposition': `attachment; filename="${id}.eml"`,
  });
  const missing = await agent.api.get(`/v1/messages/${id}/attachments/99`);
  t.same([missing.status, missing.code], [404, 'not_found'], 'an attachment that is not there');
  t.match(missing.headers, { 'content-type': 'application/json; charset=utf-8' }, 'errors are JSON');
});
