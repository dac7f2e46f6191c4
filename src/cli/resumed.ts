import { type Answer, answer } from './outcome.js';

/** The answer to `postern restore --resume-sending` and `postern queue resume`. */
export function answerResumed(wasHeld: boolean): Answer {
  return answer(
    { resumed: wasHeld },
    wasHeld
      ? 'New messages are sent and webhooks are called again, within seconds. Sends that are held stay so: "postern queue status".\n'
      : 'Nothing was held: this store is not fresh from a backup.\n',
  );
}
