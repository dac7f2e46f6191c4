import { sealMessage } from 'mailauth/lib/arc/index.js';
import type { Test } from 'tap';
import { signMessage } from '../../../src/mail/write/sign-message.js';
import { createAgent, type TestAgent } from '../../support/box/agents.js';
import { type PosternBox, startBox } from '../../support/box/postern-box.js';
import { openStore, readFacts, type StoreFacts } from '../../support/box/store-facts.js';
import { type TestKey, testKey } from '../../support/dkim/signing.js';
import { type DnsServer, startDnsServer, type Zones } from '../../support/dns/dns-server.js';
import { SmtpClient, type SmtpReply } from '../../support/smtp/smtp-client.js';

export const letter = (from: string, rest = ''): string =>
  `From: ${from}\r\nTo: agent@example.org\r\nSubject: hello\r\nMIME-Version: 1.0\r\n${rest}\r\nHello\r\n`;

const LOCAL_SPF = 'v=spf1 ip4:127.0.0.1 -all';
const FOREIGN_SPF = 'v=spf1 ip4:192.0.2.1 -all';

/** Of domains for the tests: what they publish is in their names. The client is 127.0.0.1. */
export function zones(bank: TestKey, list: TestKey): Zones {
  return {
    'bank.example': { TXT: [FOREIGN_SPF] },
    '_dmarc.bank.example': { TXT: ['v=DMARC1; p=reject'] },
    [bank.name]: { TXT: [bank.record] },
    [list.name]: { TXT: [list.record] },
    // A client of ours sends for it, so it passes.
    'partner.example': { TXT: [LOCAL_SPF] },
    '_dmarc.partner.example': { TXT: ['v=DMARC1; p=reject'] },
    'shop.example': { TXT: [FOREIGN_SPF] },
    '_dmarc.shop.example': { TXT: ['v=DMARC1; p=quarantine'] },
    'plain.example': { TXT: [LOCAL_SPF] },
    'nothing.example': { TXT: [FOREIGN_SPF] },
    'dark.example': { fault: 'servfail' },
    '_dmarc.dark.example': { fault: 'servfail' },
  };
}

export interface AuthorBox {
  readonly box: PosternBox;
  readonly agent: TestAgent;
  readonly dns: DnsServer;
  /** The message signed by bank.example. */
  readonly signed: (message: string) => Promise<string>;
  /** Of lists.example. */
  readonly list: TestKey;
  /** The message with a set of ARC fields, by lists.example if by nobody else, which says this of DMARC. */
  readonly sealed: (message: string, dmarc: string, sealer?: TestKey) => Promise<string>;
  readonly send: (
    message: string,
    options?: { readonly from?: string; readonly to?: readonly string[] },
  ) => Promise<SmtpReply>;
  readonly facts: () => Promise<StoreFacts>;
}

/** A daemon with an agent, and a DNS server that it asks. */
export async function authorBox(t: Test, env: Readonly<Record<string, string>> = {}): Promise<AuthorBox> {
  const bank = testKey('rsa-sha256', 'bank.example');
  const list = testKey('rsa-sha256', 'lists.example');
  const dns = await startDnsServer(t, zones(bank, list));
  const box = await startBox(t, { env: { POSTERN_DNS_SERVERS: dns.address, ...env } });
  const agent = await createAgent(box);
  const signed = async (message: string) =>
    Buffer.from(
      await signMessage(Buffer.from(message), [bank], { date: Date.now(), isRedated: false }),
    ).toString();
  const sealed = async (message: string, dmarc: string, sealer = list) => {
    // What the types of the library leave out.
    const results = { authResults: `lists.example; dmarc=${dmarc} header.from=bank.example`, cv: 'none' };
    const fields = await sealMessage(message, {
      signingDomain: sealer.domain,
      selector: sealer.selector,
      privateKey: sealer.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      algorithm: 'rsa-sha256',
      ...results,
    });
    return `${fields.toString()}${message}`;
  };
  return {
    box,
    agent,
    dns,
    signed,
    list,
    sealed,
    send: async (message, { from = 'someone@client.example', to = [agent.address] } = {}) => {
      const client = await SmtpClient.ready(box.smtpPort);
      const reply = await client.sendMail(from, to, message);
      await client.close();
      return reply;
    },
    facts: async () => {
      const store = openStore(box);
      try {
        return readFacts(store);
      } finally {
        await store.close();
      }
    },
  };
}
