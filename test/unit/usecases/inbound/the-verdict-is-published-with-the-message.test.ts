import t from 'tap';
import { type Authentication, NOT_CHECKED, type Origin } from '../../../../src/domain/authentication.js';
import { MINUTE_MS } from '../../../../src/domain/instants.js';
import {
  indexMessage,
  recoverParsing,
  reparseMessage,
} from '../../../../src/usecases/inbound/index-message.js';
import { recheckMessage } from '../../../../src/usecases/inbound/recheck-message.js';
import { IN_PROCESS, type MessageParser } from '../../../../src/usecases/ports.js';
import { readFacts } from '../../../support/box/store-facts.js';
import { envelopeTo, type House, silent, withHouse } from '../with-house.js';
import { index, parsed, prepared } from '../with-parser.js';

const said = (verdict: Authentication['verdict']): Authentication => ({ ...NOT_CHECKED, verdict });

/** A parser that notes which origin it was told, and finds the same of every message. */
function noting(verdict: Authentication['verdict']) {
  const origins: (Origin | null | undefined)[] = [];
  const parser: MessageParser = {
    parse: async ({ origin }) => {
      origins.push(origin);
      const authentication = origin == null ? null : said(verdict);
      return { status: 'parsed', prepared: prepared({}, [], { authentication }) };
    },
  };
  return { origins, parser };
}

const indexWith = (house: House, id: Parameters<typeof index>[1], parser: MessageParser) =>
  indexMessage({ ...house, parser, log: silent, maxTries: 3, startedAt: null }, id);

t.test('the parser is told where a message came from, and what it finds is published', async t => {
  const house = await withHouse(t);
  const id = await house.receive('raw', await house.addInbox('agent'));
  const { origins, parser } = noting('fail');
  await indexWith(house, id, parser);
  t.strictSame(origins, [
    { clientAddress: '192.0.2.1', helo: 'mx.elsewhere.example', sender: 'sender@elsewhere.example' },
  ]);
  t.equal(house.message(id)?.authentication?.verdict, 'fail');
  t.equal(house.message(id)?.recheck, null);

  await reparseMessage(house, id);
  t.equal(house.message(id)?.authentication, null, 'it is unknown while it is parsed again');
  await indexWith(house, id, parser);
  t.equal(origins[1], null, 'what is known is not looked for anew');
  t.equal(house.message(id)?.authentication?.verdict, 'fail');
});

t.test('mail between inboxes passes by its own right, whatever a client calls itself', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  const { origins, parser } = noting('none');
  const from = async (clientAddress: string, helo: string) => {
    const body = house.inbound.begin();
    body.write(Buffer.from('raw'));
    const outcome = await body.commit({ ...envelopeTo(inbox), clientAddress, helo });
    if (outcome.status !== 'accepted') throw new Error(outcome.status);
    await indexWith(house, outcome.messageIds[0]!, parser);
    return house.message(outcome.messageIds[0]!)?.authentication;
  };
  t.match(await from(IN_PROCESS, 'example.org'), {
    verdict: 'pass',
    local: true,
    from_domain: 'elsewhere.example',
  });
  t.match(await from('127.0.0.1', IN_PROCESS), { verdict: 'none', local: false });
  t.strictSame(
    origins.map(origin => origin?.clientAddress),
    [undefined, '127.0.0.1'],
  );
});

t.test('what DNS did not tell is looked for again after 5, 30 and 120 minutes, and then no more', async t => {
  const house = await withHouse(t);
  const id = await house.receive('raw', await house.addInbox('agent'));
  await index(house, id, parsed({}, { authentication: said('unknown') }));
  const look = (verdict: Authentication['verdict'], isStopping = false) =>
    recheckMessage(
      { ...house, authenticator: { check: async () => said(verdict) }, isStopping: () => isStopping },
      id,
    );
  for (const minutes of [5, 30, 120]) {
    t.equal(house.message(id)?.recheck?.dueAt, house.now.ms + minutes * MINUTE_MS);
    await look('unknown', true);
    t.equal(
      house.message(id)?.recheck?.dueAt,
      house.now.ms + minutes * MINUTE_MS,
      'a look that a stop cut off does not count',
    );
    house.now.ms += minutes * MINUTE_MS;
    await look('unknown');
  }
  t.equal(house.message(id)?.recheck, null);
  t.equal(readFacts(house.store).pending.authenticate, 0);
  await look('pass');
  t.equal(house.message(id)?.authentication?.verdict, 'unknown', 'nothing is owed any more');

  const second = await house.receive('raw', house.message(id)!.inboxId);
  await index(house, second, parsed({}, { authentication: said('unknown') }));
  const authenticator = { check: async () => said('pass') };
  await recheckMessage({ ...house, authenticator, isStopping: () => false }, second);
  t.match(house.message(second), { authentication: { verdict: 'pass' }, recheck: null });
  t.strictSame(readFacts(house.store).faults, []);
});

t.test('a message that is parsed alone does not wait for the DNS, and is checked later', async t => {
  const house = await withHouse(t);
  const id = await house.receive('raw', await house.addInbox('agent'));
  const interrupt = async () => {
    const parser: MessageParser = { parse: () => new Promise(() => {}) };
    void indexWith(house, id, parser);
    while (house.message(id)?.status !== 'processing') await new Promise(setImmediate);
    await recoverParsing(house);
  };
  for (let time = 0; time < 2; time++) await interrupt();
  const { origins, parser } = noting('pass');
  await indexWith(house, id, parser);
  t.strictSame(origins, [null]);
  t.match(house.message(id), {
    status: 'ready',
    authentication: { verdict: 'unknown' },
    recheck: { number: 1 },
  });
  await recheckMessage(
    { ...house, authenticator: { check: async () => said('pass') }, isStopping: () => false },
    id,
  );
  t.match(house.message(id), { authentication: { verdict: 'pass' }, recheck: null });
  t.strictSame(readFacts(house.store).faults, []);
});
