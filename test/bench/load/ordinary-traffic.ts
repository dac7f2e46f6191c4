import { setTimeout as delay } from 'node:timers/promises';
import { ApiClient } from '../../support/box/api-client.js';
import { acceptedId, writeLetter } from '../../support/letters/letters.js';
import { SENDER } from '../../support/smtp/deliver.js';
import { SmtpClient } from '../../support/smtp/smtp-client.js';
import type { Appliance } from '../appliance.js';

export interface OrdinaryFigures {
  /** From the first command of a message to the reply to its final dot. */
  readonly acceptMs: readonly number[];
  /** From that reply until the message can be read. */
  readonly readyMs: readonly number[];
  readonly listMs: readonly number[];
}

const MAIL_EVERY_MS = 100;
const LIST_EVERY_MS = 50;
const LOOK_EVERY_MS = 5;
const BYTES = 4096;

/**
 * Ordinary traffic beside the load that is measured: a message now and then, and an agent that lists its messages. The
 * returned function ends it, and resolves when every message that was sent can be read.
 */
export function startOrdinaryTraffic(appliance: Appliance): () => Promise<OrdinaryFigures> {
  const acceptMs: number[] = [];
  const readyMs: number[] = [];
  const listMs: number[] = [];
  const waiting = new Map<string, number>();
  let isOver = false;

  const sendMail = async (): Promise<void> => {
    const client = await SmtpClient.ready(appliance.smtpPort);
    while (!isOver) {
      const { raw } = writeLetter({ bytes: BYTES });
      const startedAt = performance.now();
      const id = acceptedId(await client.sendMail(SENDER, [appliance.recipient], raw));
      const acceptedAt = performance.now();
      acceptMs.push(acceptedAt - startedAt);
      waiting.set(id, acceptedAt);
      await delay(MAIL_EVERY_MS);
    }
    await client.close();
  };
  const readLists = async (): Promise<void> => {
    const api = new ApiClient(() => appliance.httpPort, appliance.credential);
    while (!isOver) {
      const startedAt = performance.now();
      const { status } = await api.get(appliance.listPath);
      if (status !== 200) throw new Error(`the list answers ${status}`);
      listMs.push(performance.now() - startedAt);
      await delay(LIST_EVERY_MS);
    }
  };
  const watchLetters = async (): Promise<void> => {
    while (!isOver || waiting.size > 0) {
      for (const [id, acceptedAt] of waiting) {
        const status = appliance.statusOf(id);
        if (status === 'pending' || status === 'processing') continue;
        if (status !== 'ready') throw new Error(`an ordinary letter is ${status}`);
        readyMs.push(performance.now() - acceptedAt);
        waiting.delete(id);
      }
      await delay(LOOK_EVERY_MS);
    }
  };
  const all = Promise.all([sendMail(), readLists(), watchLetters()]);
  // Reported by the returned function, which may be called much later.
  all.catch(() => {});
  return async () => {
    isOver = true;
    await all;
    return { acceptMs, readyMs, listMs };
  };
}
