import t from 'tap';
import { clientNetworks } from '../../../../src/domain/addresses.js';
import { type Guest, OpenClients } from '../../../../src/smtp/connection-limits.js';
import { ListenerClock } from '../../../../src/smtp/session-timers.js';

interface Session extends Guest {
  doing: Guest['doing'];
  arrears: number;
  hasLeft: boolean;
}

function house(maxClients: number): {
  readonly clients: OpenClients<Session>;
  /** The session of a client that has come, or why it has not. */
  enter(address: string): Session | string;
  fill(addresses: readonly string[]): Session[];
} {
  const clients = new OpenClients<Session>({ maxClients, maxClientsPerAddress: 10 }, new ListenerClock());
  const enter = (address: string): Session | string => {
    const client = clientNetworks(address);
    const admission = clients.admit(client);
    if (admission !== 'own' && admission !== 'lent') return admission;
    const session: Session = {
      client,
      doing: 'commands',
      answerDueAtMs: null,
      arrears: 0,
      hasLeft: false,
      arrearsMs: () => session.arrears,
      giveUpPlace: () => {
        session.hasLeft = true;
      },
    };
    clients.open(session, admission);
    return session;
  };
  const fill = (addresses: readonly string[]): Session[] =>
    addresses.map(address => {
      const session = enter(address);
      if (typeof session === 'string') throw new Error(session);
      return session;
    });
  return { clients, enter, fill };
}

function sites(count: number): string[] {
  return Array.from({ length: count }, (_, n) => `2001:db8:${n.toString(16)}::1`);
}

function left(sessions: readonly Session[]): number[] {
  return sessions.flatMap((session, n) => (session.hasLeft ? [n] : []));
}

t.test('of all who are behind the one furthest behind goes, whatever it is doing', async t => {
  const { enter, fill } = house(10);
  const sessions = fill(sites(10));
  t.equal(enter('192.0.2.1'), 'too_many_clients');
  for (const [n, arrears] of [0, 11_000, 40_000, 500_000, 0, 30_000].entries()) {
    Object.assign(sessions[n] as Session, { arrears, doing: n % 2 === 1 ? 'receiving' : 'commands' });
  }
  for (const n of [3, 2, 5, 1]) {
    t.type(enter(`192.0.2.${n}`), 'object');
    t.ok(sessions[n]?.hasLeft);
  }
  t.equal(enter('192.0.2.9'), 'too_many_clients');
  t.same(left(sessions), [1, 2, 3, 5]);
});

t.test('for a site that has its share, only one of its own does', async t => {
  const { enter, fill } = house(100);
  const others = fill(sites(60));
  const own = fill(Array.from({ length: 25 }, (_, n) => `2001:db8:ffff:${n.toString(16)}::1`));
  for (const session of others) session.arrears = 90_000;
  t.equal(enter('2001:db8:ffff:99::1'), 'too_many_clients');
  Object.assign(own[7] as Session, { arrears: 31_000 });
  t.type(enter('2001:db8:ffff:99::1'), 'object');
  t.same([left(others), left(own)], [[], [7]]);
  t.type(enter('2001:db8:eeee::1'), 'object', 'another site finds room');
  t.same(left(others), []);
});

t.test(
  'what was lent is given back to those who hold none, and never during the reply to a message',
  async t => {
    const { enter, fill } = house(100);
    const sessions = fill([...sites(95), ...sites(5)]);
    t.equal(enter('2001:db8:0::2'), 'too_many_clients', 'who holds one gets no other');
    const activities = ['answering', 'receiving', 'receiving', 'commands', 'receiving'] as const;
    for (const [n, doing] of activities.entries()) Object.assign(sessions[95 + n] as Session, { doing });
    const order = [98, 96, 97, 99];
    for (const n of order) {
      t.type(enter(`2001:db8:aaaa:${n}::1`.replace('aaaa', `a${n}`)), 'object');
      t.ok(sessions[n]?.hasLeft);
    }
    t.equal(enter('192.0.2.1'), 'too_many_clients');
    t.notOk(sessions[95]?.hasLeft);
  },
);

t.test('when others leave, what was lent becomes their own', async t => {
  const { clients, enter, fill } = house(100);
  const sessions = fill([...sites(95), ...sites(5)]);
  for (const session of sessions.slice(0, 7)) clients.closed(session);
  const newcomers = fill(Array.from({ length: 7 }, (_, n) => `192.0.${n}.1`));
  t.type(
    enter('198.51.100.1'),
    'string',
    'nothing is on loan any more but what was taken by those who held none',
  );
  t.same(left([...sessions, ...newcomers]), []);
});

t.test('a session that has given way leaves once', async t => {
  const { clients, enter, fill } = house(10);
  const sessions = fill(sites(10));
  Object.assign(sessions[4] as Session, { arrears: 12_000 });
  const newcomer = enter('192.0.2.1');
  t.equal(enter('192.0.3.1'), 'too_many_clients');
  clients.closed(sessions[4] as Session);
  t.equal(enter('192.0.3.1'), 'too_many_clients');
  clients.closed(newcomer as Session);
  t.type(enter('192.0.3.1'), 'object');
});
