import t from 'tap';
import type { ServerReply } from '../../../../src/relay/session/reply.js';
import { type MailWire, SessionLost } from '../../../../src/relay/session/smtp-session.js';
import type { TransactionEnd } from '../../../../src/relay/session/transaction.js';
import { outcomeOf } from '../../../../src/relay/smarthost/outcome.js';
import { runTransaction } from '../../../../src/relay/smarthost/transaction.js';
import { attempt } from './with-smarthost.js';

const times = {
  mailMs: 1000,
  commandMs: 1000,
  dataMs: 1000,
  blockMs: 1000,
  contentMs: 1000,
  verdictMs: 1000,
};

/** A `MailWire` for which the test decides when bytes count as sent, and what happens instead. */
class HeldWire implements MailWire {
  readonly maxMessageBytes = null;
  readonly offersSize = false;
  hasUnread = false;
  readonly handed: string[] = [];
  #pending: { resolve: () => void; reject: (error: Error) => void } | null = null;
  #onHanded: () => void = () => {};
  verdict: Promise<ServerReply> = new Promise(() => {});

  async command(line: string): Promise<ServerReply> {
    return { code: line === 'DATA' ? 354 : 250, enhanced: null, text: '' };
  }

  send(bytes: Uint8Array): Promise<void> {
    this.handed.push(Buffer.from(bytes).toString());
    this.#onHanded();
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject };
    });
  }

  nextReply(): Promise<ServerReply> {
    return this.verdict;
  }

  async untilHanded(count: number): Promise<void> {
    while (this.handed.length < count) {
      await new Promise<void>(resolve => {
        this.#onHanded = resolve;
      });
    }
  }

  left(): void {
    this.#pending?.resolve();
  }

  lose(reason: SessionLost['reason']): void {
    this.#pending?.reject(new SessionLost(reason, 'the test says so'));
  }
}

function start(): { wire: HeldWire; end: Promise<TransactionEnd> } {
  const wire = new HeldWire();
  return { wire, end: runTransaction(wire, attempt({ content: 'Subject: x\r\n\r\n.dot\r\n' }), times) };
}

const reasons = ['closed', 'timeout', 'malformed', 'stopped'] as const;

t.test('the dot is not handed over while content is still in our hands', async t => {
  const { wire, end } = start();
  await wire.untilHanded(1);
  await new Promise(setImmediate);
  t.same(wire.handed, ['Subject: x\r\n\r\n..dot\r\n']);
  wire.left();
  await wire.untilHanded(2);
  t.equal(wire.handed[1], '.\r\n');
  wire.lose('closed');
  await end;
});

for (const reason of reasons) {
  t.test(`${reason} with content in our hands: nobody has it`, async t => {
    const { wire, end } = start();
    await wire.untilHanded(1);
    wire.lose(reason);
    t.match(outcomeOf(await end), {
      status: 'rejected',
      errorCode: reason === 'timeout' ? 'E_RELAY_TIMEOUT' : 'E_RELAY_UNREACHABLE',
    });
    t.equal(wire.handed.length, 1);
  });

  t.test(`${reason} once the dot was handed over, left or not: unknown`, async t => {
    const { wire, end } = start();
    await wire.untilHanded(1);
    wire.left();
    await wire.untilHanded(2);
    wire.lose(reason);
    t.match(outcomeOf(await end), { status: 'unknown', errorCode: 'acceptance_unknown' });
  });

  t.test(`${reason} instead of an answer to the dot: unknown`, async t => {
    const { wire, end } = start();
    wire.verdict = Promise.reject(new SessionLost(reason, 'the test says so'));
    wire.verdict.catch(() => {});
    await wire.untilHanded(1);
    wire.left();
    await wire.untilHanded(2);
    wire.left();
    t.match(outcomeOf(await end), { status: 'unknown', errorCode: 'acceptance_unknown' });
  });
}

t.test('a reply that is there before the dot is handed over keeps it back', async t => {
  const { wire, end } = start();
  wire.verdict = Promise.resolve({ code: 552, enhanced: '5.3.4', text: 'Too much' });
  await wire.untilHanded(1);
  wire.hasUnread = true;
  wire.left();
  t.match(outcomeOf(await end), { status: 'rejected', errorCode: 'E_MESSAGE_TOO_LARGE' });
  t.equal(wire.handed.length, 1);
});
