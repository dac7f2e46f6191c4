import t from 'tap';
import { PostfixPeer } from '../../bench/peers/postfix.js';
import { createAgent } from '../../support/box/agents.js';
import { DOMAIN } from '../../support/box/postern-box.js';
import { makeIdentity } from '../../support/certificate.js';
import { endedDeliveries, startDirectBox } from '../../support/delivery/direct-box.js';
import { needsVerifier, verify } from '../../support/dkim/signing.js';
import { startDnsServer } from '../../support/dns/dns-server.js';
import { skipWithoutPostfix } from '../../support/installed.js';
import { temporaryFolder } from '../../support/redis/redis.js';
import { firstReceived, send } from '../../support/sending/sending.js';

/** What a receiving server puts in front of a message (RFC 5321 section 4.4), and Postfix's own two. */
const TRACE = /^(?:(?:Return-Path|X-Original-To|Delivered-To|Received): .*\n(?:[ \t].*\n)*)+/;

const skip = skipWithoutPostfix() || needsVerifier;

t.test(
  'mail arrives at Postfix byte for byte and over TLS, with signatures that another implementation verifies',
  { skip },
  async t => {
    const identity = makeIdentity(temporaryFolder(t), 'DNS:mx.postfix.test');
    const postfix = await PostfixPeer.start({
      // The folder of a test run is closed to the user that Postfix delivers as.
      parent: '/tmp',
      settings: {
        smtpd_tls_cert_file: identity.certFile,
        smtpd_tls_key_file: identity.keyFile,
        smtpd_tls_security_level: 'may',
        smtpd_recipient_restrictions:
          'check_recipient_access inline:{{refused@postfix.test = REJECT}}, permit_mynetworks, reject',
      },
    });
    t.teardown(() => postfix.stop());
    const dns = await startDnsServer(t, {
      'postfix.test': { MX: [[10, 'mx.postfix.test']] },
      'mx.postfix.test': { A: ['127.0.0.1'] },
    });
    const box = await startDirectBox(t, { port: postfix.port, dns });
    const agent = await createAgent(box);
    const here = await createAgent(box, 'here');
    const bytes = Buffer.from(Array.from({ length: 5_000 }, (_, at) => (at * 7) % 256));
    const { message } = await send(agent, {
      to: [
        { address: postfix.recipient, name: 'Grüße' },
        { address: 'refused@postfix.test' },
        { address: here.address },
      ],
      subject: 'Grüße über TLS, and a line that is long '.repeat(3),
      text: 'From the start\n.\n..dots\n  spaces at the end  \n\n\n',
      html: '<p>Grüße</p>',
      attachments: [
        {
          filename: 'a.bin',
          type: 'application/octet-stream',
          content: bytes.toString('base64'),
        },
      ],
    });
    const ended = await endedDeliveries(agent, message.id);
    t.match(Object.fromEntries(ended.map(one => [one.recipient, one])), {
      [postfix.recipient]: { state: 'delivered', tls: /^TLSv1\.[23]$/, host: 'mx.postfix.test' },
      'refused@postfix.test': { state: 'failed', code: '5.7.1', host: 'mx.postfix.test' },
    });

    await postfix.untilDelivered(1);
    const [arrived = Buffer.alloc(0)] = postfix.messages();
    const text = arrived.toString('latin1').replace(TRACE, '').replaceAll('\n', '\r\n');
    const copy = await here.api.raw(await firstReceived(here));
    t.ok(text === copy.toString('latin1'), 'byte for byte what the API shows of a copy that stays here');
    t.match(text, /^DKIM-Signature: /, 'the signatures included');
    const keys = await box.cliJson<{ keys: { name: string; record: string }[] }>('dkim', 'list', DOMAIN);
    const records = Object.fromEntries(keys.keys.map(({ name, record }) => [name, record]));
    const changed = text.replace('dots', 'Dots');
    t.not(changed, text);
    t.same(
      verify([text, changed].map(one => ({ records, message: Buffer.from(one, 'latin1') }))),
      [
        [true, true],
        [false, false],
      ],
      'Ed25519 and RSA; a changed body fails both',
    );
  },
);
