import { MINUTE_MS } from '../../domain/instants.js';
import { reasonOf } from '../../lib/async.js';
import { isHeldAfterRestore } from '../../store/engine/meta.js';
import type { Store } from '../../store/engine/store.js';
import { getAccount } from '../../store/records/accounts.js';
import {
  addPending,
  type DueWork,
  listDue,
  removePending,
  type WebhookNews,
} from '../../store/records/pending.js';
import type { Clock, Logger, SystemMail } from '../ports.js';

export interface MailNewsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly mail: SystemMail;
  /** Where the operator reads, who hears too when a webhook ends by itself. */
  readonly operator: string;
  readonly serviceName: string;
  readonly log: Logger;
}

const PER_LOOK = 10;
/** Mail is tried so often, each time after one more of these pauses. */
const MAX_TRIES = 8;
const PAUSE_MS = 5 * MINUTE_MS;

type News = DueWork<'webhook-mail'>;

/**
 * Mails humans what is new of their webhooks: an agent can make one, and whatever comes in is told to it from then on. It
 * is planned in the commit that makes it true, and tried for some hours.
 * @param shouldStop asked before each mail
 */
export async function mailWebhookNews(deps: MailNewsDeps, shouldStop: () => boolean): Promise<void> {
  const { store, clock } = deps;
  if (store.read(isHeldAfterRestore)) return;
  for (;;) {
    const due = store.read(reader => listDue(reader, 'webhook-mail', clock(), PER_LOOK));
    for (const one of due) {
      if (shouldStop()) return;
      await settleOne(deps, one, await mailOne(deps, one));
    }
    if (due.length < PER_LOOK) return;
  }
}

/** @returns what is to be tried again; null when it is done, or given up */
async function mailOne(
  { store, mail, operator, serviceName, log }: MailNewsDeps,
  { work }: News,
): Promise<News['work'] | null> {
  const account = store.read(reader => getAccount(reader, work.accountId));
  if (account === undefined) return null;
  const isEnd = work.what === 'gone' || work.what === 'dead';
  // The human first: nobody is mailed again because the other's mail was not taken.
  const readers = new Set([account.email, ...(isEnd ? [operator] : [])]);
  if (work.isHumanTold === true) readers.delete(account.email);
  try {
    for (const to of readers) {
      const text = textOf(
        work,
        to === account.email ? 'your account' : `the account ${account.email}`,
        serviceName,
      );
      await mail.send({ to, subject: SUBJECTS[work.what], text });
      readers.delete(to);
    }
    return null;
  } catch (error) {
    const tries = work.tries + 1;
    const facts = { webhook_id: work.id, account_id: work.accountId, tries };
    const isHumanTold = !readers.has(account.email);
    log.warn(
      { ...facts, reason: reasonOf(error) },
      `news of a webhook could not be mailed to ${isHumanTold ? 'the operator' : 'its human'}`,
    );
    if (tries >= MAX_TRIES) return null;
    return { ...work, tries, ...(isHumanTold ? { isHumanTold } : {}) };
  }
}

async function settleOne(
  { store, clock }: MailNewsDeps,
  { dueAt, work }: News,
  again: News['work'] | null,
): Promise<void> {
  await store.write(writer => {
    removePending(writer, { kind: 'webhook-mail', dueAt, id: work.id });
    if (again !== null) addPending(writer, clock() + again.tries * PAUSE_MS, again);
  }, 'settle');
}

const SUBJECTS: Record<WebhookNews, string> = {
  made: 'A webhook was added to your account',
  url: 'A webhook of your account leads elsewhere now',
  gone: 'A webhook was disabled: its endpoint is gone',
  dead: 'A webhook was disabled: its endpoint takes nothing',
};

const WORDS: Record<WebhookNews, (whose: string) => readonly string[]> = {
  made: whose => [
    `A webhook was added to ${whose}: from now on, what happens in its inboxes (who writes, the`,
    'subject and the beginning of each message, but no bodies and no files) is sent to',
  ],
  url: whose => [
    `A webhook of ${whose} was changed: what happens in its inboxes (who writes, the subject and the`,
    'beginning of each message, but no bodies and no files) is sent from now on to',
  ],
  gone: whose => [
    `A webhook of ${whose} was disabled, because its endpoint answered that it is gone (410). It led to`,
  ],
  dead: whose => [
    `A webhook of ${whose} was disabled, because its endpoint has taken nothing for three days. It led to`,
  ],
};

function textOf({ id, url, what }: News['work'], whose: string, serviceName: string): string {
  const isEnd = what === 'gone' || what === 'dead';
  return [
    ...WORDS[what](whose),
    '',
    `    ${url}`,
    '',
    ...(isEnd
      ? [
          'Nothing is lost yet: events are kept for 30 days. When the endpoint is well again, enable the webhook:',
          `"postern webhook set ${id} --enable", or an agent with updateWebhook.`,
        ]
      : [
          'If neither you nor an agent of yours did this, delete it and revoke the keys of the account, or ask',
          `the operator to: "postern webhook delete ${id}".`,
        ]),
    '',
    '-- ',
    `${serviceName}; webhook ${id}`,
    '',
  ].join('\n');
}
