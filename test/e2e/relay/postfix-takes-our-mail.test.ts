import t from 'tap';
import type { SmarthostTransport } from '../../../src/relay/smarthost/transport.js';
import { PostfixPeer } from '../../bench/peers/postfix.js';
import { makeIdentity } from '../../support/certificate.js';
import { skipWithoutPostfix } from '../../support/installed.js';
import { temporaryFolder } from '../../support/redis/redis.js';
import { attempt, transportTo } from '../../unit/relay/smarthost/with-smarthost.js';

/** What a receiving server puts in front of a message (RFC 5321 section 4.4), and Postfix's own two. */
const TRACE = /^(?:Return-Path|X-Original-To|Delivered-To|Received): /;
const SIZE_LIMIT = 2_000_000;
const AGENT = 'agent@postfix.test';

const skip = skipWithoutPostfix();

let postfix: PostfixPeer;
let transport: SmarthostTransport;

if (skip === false) {
  const identity = makeIdentity(temporaryFolder(t), 'DNS:localhost');
  postfix = await PostfixPeer.start({
    // The folder of a test run is closed to the user that Postfix delivers as.
    parent: '/tmp',
    settings: {
      smtpd_tls_cert_file: identity.certFile,
      smtpd_tls_key_file: identity.keyFile,
      smtpd_tls_security_level: 'encrypt',
      smtpd_recipient_restrictions:
        'check_recipient_access inline:{{refused@postfix.test = REJECT}}, permit_mynetworks, reject',
      message_size_limit: String(SIZE_LIMIT),
    },
  });
  t.teardown(() => postfix.stop());
  const options = { host: 'localhost', tls: 'starttls', caFile: identity.certFile } as const;
  transport = transportTo(t, postfix.port, options);
}

function message(subject: string, body: string): string {
  return [
    'From: Agent <agent@example.org>',
    `To: ${AGENT}`,
    `Subject: ${subject}`,
    'Message-ID: <relay@example.org>',
    'Date: Fri, 27 Nov 2026 10:00:00 +0000',
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=us-ascii',
    '',
    body,
  ].join('\r\n');
}

/** What was delivered with this subject: the fields in front of ours, and the rest with CRLF line ends. */
async function delivered(subject: string, count: number): Promise<{ fields: string; rest: string }[]> {
  const found = () =>
    postfix
      .messages()
      .map(bytes => bytes.toString('latin1'))
      .filter(text => text.includes(`Subject: ${subject}\n`));
  await postfix.untilIdle();
  const texts = found();
  t.equal(texts.length, count, 'delivered once each');
  return texts.map(text => {
    const at = text.indexOf('From: Agent');
    return {
      fields: text.slice(0, at).replace(/\n[ \t]+/g, ' '),
      rest: text.slice(at).replaceAll('\n', '\r\n'),
    };
  });
}

t.test('what Postfix delivers is what was handed over, behind its trace fields', { skip }, async t => {
  const bodies: Readonly<Record<string, string>> = {
    'a text': 'Hello,\r\nhow are you?\r\n',
    'lines of dots': '.\r\n..\r\n...\r\n.x\r\n\r\n.\r\n',
    'no line end at its end': 'and then',
    'a dot without a line end at its end': 'and\r\n.',
    'empty lines at its end': 'text\r\n\r\n\r\n',
    'spaces at line ends and lines as long as may be': `${'x'.repeat(998)}\r\n \r\nx \r\n`,
    'a long one': `${'0123456789'.repeat(7)}.\r\n.\r\n`.repeat(15_000),
  };
  const wanted: string[] = [];
  for (const [claim, body] of Object.entries(bodies)) {
    const content = message('bytes', body);
    t.match(
      await transport.submit(attempt({ recipients: [AGENT], content })),
      { status: 'accepted', detail: /^250 2\.0\.0 .*queued as/ },
      claim,
    );
    wanted.push(content.endsWith('\r\n') ? content : `${content}\r\n`);
  }
  const got = await delivered('bytes', wanted.length);
  for (const { fields } of got) {
    t.ok(
      fields
        .trimEnd()
        .split('\n')
        .every(field => TRACE.test(field)),
      fields,
    );
    t.match(fields, /Received: from mx\.example\.org .* with ESMTPS /, 'encrypted');
  }
  const texts = got.map(({ rest }) => rest);
  t.ok(texts.sort().join('') === wanted.sort().join(''), 'byte for byte');
});

t.test('one refused recipient refuses all, and the session goes on', { skip }, async t => {
  const content = message('refused', 'x\r\n');
  t.match(await transport.submit(attempt({ recipients: [AGENT, 'refused@postfix.test'], content })), {
    status: 'rejected',
    errorCode: 'E_RECIPIENT_REJECTED',
    detail: /^554 5\.7\.1 .* \(at RCPT, recipient 2\)$/,
  });
  await delivered('refused', 0);
  t.match(await transport.submit(attempt({ recipients: [AGENT], content })), { status: 'accepted' });
  await delivered('refused', 1);
});

t.test('a message over its limit is not offered', { skip }, async t => {
  const content = message('large', `${'x'.repeat(98)}\r\n`.repeat(SIZE_LIMIT / 100));
  t.match(await transport.submit(attempt({ recipients: [AGENT], content })), {
    status: 'rejected',
    errorCode: 'E_MESSAGE_TOO_LARGE',
  });
});

t.test('many at once all arrive, once each', { skip }, async t => {
  const outcomes = await Promise.all(
    Array.from({ length: 50 }, (_, n) =>
      transport.submit(attempt({ recipients: [AGENT], content: message('many', `number ${n}.\r\n`) })),
    ),
  );
  t.ok(outcomes.every(outcome => outcome.status === 'accepted'));
  const numbers = (await delivered('many', 50)).map(({ rest }) => /number \d+\./.exec(rest)?.[0]);
  t.equal(new Set(numbers).size, 50);
});
