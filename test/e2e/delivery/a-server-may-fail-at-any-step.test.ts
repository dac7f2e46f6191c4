import t from 'tap';
import type { Delivery } from '../../../src/contract/deliveries.js';
import { createAgent } from '../../support/box/agents.js';
import { deliveriesWhen, startDirectBox } from '../../support/delivery/direct-box.js';
import { MailServers } from '../../support/delivery/mail-servers.js';
import { startDnsServer } from '../../support/dns/dns-server.js';
import { send } from '../../support/sending/sending.js';
import { andThen, drop, reset, type Script, say } from '../../support/smarthost/smarthost-script.js';

/*
 * Every domain has two mail servers. The first one fails at one step of the dialogue, the second takes everything: what
 * it may get is what the first one has left open, and never what may have arrived.
 */

const bye = andThen(say('421 4.3.2 Bye'), 'drop');

/** The first server has not got the message: the second one gets it in the same attempt. */
const GOES_ON: readonly Script[] = [
  { greeting: drop },
  { greeting: reset },
  { greeting: say('554 5.7.1 No') },
  { greeting: bye },
  { greeting: say('SSH-2.0-OpenSSH_9.2') },
  { ehlo: say('550 5.7.1 No') },
  { ehlo: drop },
  { mail: say('451 4.3.0 Not now') },
  { mail: bye },
  { mail: reset },
  { rcpt: say('450 4.2.0 Greylisted') },
  { rcpt: drop },
  { rcpt: bye },
  { data: say('451 4.3.0 Not now') },
  { data: reset },
  { content: { afterBytes: 50, step: drop } },
  { content: { afterBytes: 50, step: bye } },
];

/** It has refused the message or its recipient for good. */
const FAILS: readonly Script[] = [
  { mail: say('550 5.1.8 Not you') },
  { rcpt: say('550 5.1.1 Nobody') },
  { data: say('554 5.5.0 No') },
  { dot: say('550 5.6.0 No') },
  { dot: andThen(say('554 5.6.0 No'), 'reset') },
];

/** It has said that it does not have it, and that it may be tried again. */
const WAITS: readonly Script[] = [{ dot: say('451 4.6.0 Not now') }, { dot: bye }];

/** Behind the dot nothing came that says whether it has the message. */
const UNKNOWN: readonly Script[] = [{ dot: drop }, { dot: reset }, { dot: say('What?') }];

const dns = await startDnsServer(t);
const servers = await MailServers.start(t, dns);

interface Case {
  readonly claim: string;
  readonly domain: string;
  readonly script: Script;
}

async function cases(kind: string, scripts: readonly Script[]): Promise<readonly Case[]> {
  const all: Case[] = [];
  for (const [at, script] of scripts.entries()) {
    const domain = `${kind}-${at}.example`;
    servers.serve(domain, await servers.add(script), servers.good);
    all.push({ claim: `${kind}: ${JSON.stringify(script)}`, domain, script });
  }
  return all;
}

const goesOn = await cases('goes-on', GOES_ON);
const fails = await cases('fails', FAILS);
const waits = await cases('waits', WAITS);
const unknown = await cases('unknown', UNKNOWN);
const everyCase = [...goesOn, ...fails, ...waits, ...unknown];

const box = await startDirectBox(t, { port: servers.port, dns, env: { POSTERN_LIMITS_SENDS: '100' } });
const agent = await createAgent(box);
const { message } = await send(agent, {
  to: everyCase.map(({ domain }) => ({ address: `one@${domain}` })),
  subject: 'To all of them',
  text: 'Hello',
});
const isSettled = ({ state, attempts }: Delivery): boolean =>
  attempts > 0 && state !== 'sending' && (state !== 'queued' || attempts === 1);
const seen = await deliveriesWhen(agent, message.id, all => all.every(isSettled));
const byRecipient = new Map(seen.map(one => [one.recipient, one]));

/** How it ended, and which servers have had the whole message: 0 is the first one. */
function endOf({ domain }: Case): {
  readonly delivery: Delivery | undefined;
  readonly had: readonly number[];
} {
  const recipient = `one@${domain}`;
  const had = servers.all.flatMap(server =>
    server.submissions
      .filter(({ recipients }) => recipients.includes(recipient))
      .map(() => (server === servers.good ? 1 : 0)),
  );
  return { delivery: byRecipient.get(recipient), had };
}

t.test('up to the final dot a server that fails is passed over: the next one gets it, once', async t => {
  for (const one of goesOn) {
    const { delivery, had } = endOf(one);
    // The dot may leave before the end of the connection is seen here: then nobody knows, and it is not sent again.
    if (one.script.content !== undefined && delivery?.state === 'unknown') {
      t.same(had, [], one.claim);
      continue;
    }
    t.match(delivery, { state: 'delivered', host: `mx1.${one.domain}`, attempts: 1 }, one.claim);
    t.same(had, [1], one.claim);
  }
});

t.test('a refusal for good is final: no other server is asked', async t => {
  for (const one of fails) {
    const { delivery, had } = endOf(one);
    t.match(delivery, { state: 'failed', host: `mx0.${one.domain}`, code: /^5\./ }, one.claim);
    t.same(had, one.script.dot === undefined ? [] : [0], one.claim);
  }
});

t.test('an answer settles it, 4xx and 421 behind the dot too: it waits for the next attempt', async t => {
  for (const one of waits) {
    const { delivery, had } = endOf(one);
    t.match(delivery, { state: 'queued', host: `mx0.${one.domain}`, code: /^4\./ }, one.claim);
    t.match(delivery?.next_attempt_at, /Z$/, one.claim);
    t.same(had, one.script.dot === undefined ? [] : [0], one.claim);
  }
});

t.test('without an answer to the final dot it is unknown, and was on the wire once', async t => {
  for (const one of unknown) {
    const { delivery, had } = endOf(one);
    t.match(delivery, { state: 'unknown', host: `mx0.${one.domain}`, code: '4.4.2' }, one.claim);
    t.same(had, [0], one.claim);
  }
});
