import type { MessageId } from '../../../src/domain/ids.js';
import type { Relay, RelayAttempt, RelayOutcome } from '../../../src/usecases/ports.js';

export const ACCEPTED: RelayOutcome = { status: 'accepted', detail: '250 2.0.0 queued' };
export const REFUSED: RelayOutcome = {
  status: 'rejected',
  errorCode: 'E_RECIPIENT_REJECTED',
  detail: '550 5.1.1 nobody',
};

/** A relay that keeps a record of what it was handed, and answers as it is told. */
export class ScriptedRelay implements Relay {
  readonly attempts: RelayAttempt[] = [];
  answer: RelayOutcome | ((attempt: RelayAttempt) => Promise<RelayOutcome>) = ACCEPTED;

  async submit(attempt: RelayAttempt): Promise<RelayOutcome> {
    this.attempts.push(attempt);
    return typeof this.answer === 'function' ? this.answer(attempt) : this.answer;
  }

  /** From now on it does not answer, until it is told to; resolves when it is asked. */
  stall(): Promise<void> {
    return new Promise(asked => {
      this.answer = () =>
        new Promise(answer => {
          this.end = answer;
          asked();
        });
    });
  }

  /** Answers what it was asked last while it was stalled. */
  end: (outcome: RelayOutcome) => void = () => {};

  /** Ids in the order in which they came. */
  get ids(): MessageId[] {
    return this.attempts.map(({ id }) => id);
  }
}
