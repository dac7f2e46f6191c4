import type { AccountId } from '../../../src/domain/ids.js';
import { createAccount } from '../../../src/usecases/accounts/accounts.js';
import { createKey } from '../../../src/usecases/accounts/api-keys.js';
import { createInbox } from '../../../src/usecases/inboxes/create-inbox.js';
import { type Fared, type Mailbox, openMailboxStore, tenantDeps } from '../appliance.js';
import { type Bench, type BenchContext, withDaemon, withMailbox } from '../bench.js';
import { FARED_COLUMNS, faredCells } from '../fared-cells.js';
import { type EventFigures, type Listener, runEventLoad } from '../load/run-event-load.js';
import { compare, type Report, whole } from '../measure/report.js';
import { median } from '../measure/statistics.js';

const ACCOUNTS = 10;
const STREAMS = 100;
const PER_SECOND = 200;
const SECONDS = 10;

const SETTINGS = {
  POSTERN_HTTP_MAX_CLIENTS: '4000',
  POSTERN_HTTP_MAX_CLIENTS_PER_ADDRESS: '4000',
};

/** How soon those who wait hear of mail that is ready to be read. */
export const eventsBench: Bench = {
  name: 'events',
  title: `${ACCOUNTS * STREAMS} streams of ${ACCOUNTS} accounts, ${PER_SECOND} messages a second: each is told to ${STREAMS}`,
  run: context => withMailbox(mailbox => measure(context, mailbox)),
};

async function measure({ isQuick, runs }: BenchContext, mailbox: Mailbox): Promise<Report> {
  const listeners = await addListeners(mailbox, isQuick ? 10 : STREAMS);
  const figures: EventFigures[] = [];
  const fared: Fared[] = [];
  await withDaemon(
    mailbox,
    async appliance => {
      for (let number = 0; number < runs; number++) {
        const endWatch = appliance.watch();
        const { httpPort, smtpPort } = appliance;
        figures.push(
          await runEventLoad({
            httpPort,
            smtpPort,
            listeners,
            recipients: listeners.map(({ address }) => address),
            perSecond: PER_SECOND,
            count: PER_SECOND * (isQuick ? 1 : SECONDS),
          }),
        );
        fared.push(await endWatch());
      }
    },
    SETTINGS,
  );
  const of = (pick: (one: EventFigures) => number): number => median(figures.map(pick));
  return {
    columns: ['', 'messages/s', 'heard', 'p50 ms', 'p99 ms', 'max ms', ...FARED_COLUMNS],
    rows: [
      [
        'ready to heard',
        whole(of(one => one.perSecond)),
        `${(100 * of(one => one.heard)).toFixed(1)}%`,
        of(one => one.p50Ms).toFixed(1),
        of(one => one.p99Ms).toFixed(1),
        of(one => one.maxMs).toFixed(0),
        ...faredCells(fared),
      ],
    ],
    notes: ['the flush of the commit that makes a message ready is part of the time'],
    comparisons: [
      compare(
        'ready to heard by 1,000 who wait, median',
        of(one => one.p50Ms),
        { atMost: 50 },
        { unit: 'ms' },
      ),
    ],
  };
}

/** Accounts besides that of the mailbox, each with an inbox and a key. */
async function addListeners(
  mailbox: Mailbox,
  streams: number,
): Promise<readonly (Listener & { readonly address: string })[]> {
  const store = openMailboxStore(mailbox);
  const deps = tenantDeps(store);
  try {
    const listeners = [];
    for (let number = 0; number < ACCOUNTS; number++) {
      const { account_id: account } = await createAccount(deps, `human${number}@elsewhere.example`);
      const accountId = account as AccountId;
      const { credential } = await createKey(deps, { account });
      const { address } = await createInbox(deps, { accountId, local_part: `agent${number}` });
      listeners.push({ credential, address, streams });
    }
    return listeners;
  } finally {
    await store.close();
  }
}
