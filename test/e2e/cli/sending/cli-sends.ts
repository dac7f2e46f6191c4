import type { SendInput } from '../../../../src/contract/sending.js';
import type { RelayOutcome } from '../../../../src/usecases/ports.js';
import { sendMessage } from '../../../../src/usecases/sending/recipes.js';
import { ADMIN, locateInbox } from '../../../../src/usecases/shared/callers.js';
import { ScriptedRelay } from '../../../support/sending/scripted-relay.js';
import { SendingSide } from '../../../support/sending/sending-side.js';
import type { CliBox } from '../cli-box.js';

/** What becomes of a send: what the relay says, or that it is left as it was reserved so many hours ago. */
export type Fate = RelayOutcome | { readonly reservedHoursAgo: number };

/** Sends from an inbox of the box, as the daemon does. Gives the id of the sent copy. */
export function sendFrom(
  box: CliBox,
  address: string,
  fate: Fate,
  fields: Partial<SendInput> = {},
): Promise<string> {
  return box.withStore(async store => {
    const inbox = store.read(reader => locateInbox(reader, ADMIN, address));
    const relay = new ScriptedRelay();
    const age = 'status' in fate ? 0 : fate.reservedHoursAgo * 3_600_000;
    const side = new SendingSide({ store, relay, clock: () => Date.now() - age, responseTimeoutMs: 1 });
    if ('status' in fate) relay.answer = fate;
    else side.mode = 'drop';
    const sent = await sendMessage(side.send, {
      accountId: inbox.accountId,
      inboxId: inbox.id,
      to: [{ address: 'ann@remote.example' }],
      subject: 'Notes',
      text: 'Hello',
      ...fields,
    });
    await side.workAll();
    return sent.message.id;
  });
}
