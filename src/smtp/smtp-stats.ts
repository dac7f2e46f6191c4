/** Why something was refused, for metrics and logs. */
export type RefusalReason =
  | 'line_ending'
  | 'too_large'
  | 'mail_loop'
  | 'no_room'
  | 'no_recipients'
  | 'sender_blocked'
  | 'store_error'
  | 'unknown_recipient'
  | 'too_many_unknown'
  | 'too_many_recipients'
  | 'too_many_clients'
  | 'too_many_from_address'
  | 'bad_commands'
  | 'timeout'
  | 'too_slow'
  | 'shutting_down';

export interface SmtpStats {
  /** Connections open now. */
  readonly connections: number;
  /** Connections let in since the start. */
  readonly connectionsTotal: number;
  readonly acceptedMessages: number;
  /** Messages refused once DATA had begun. */
  readonly refusedMessages: number;
  /** Everything refused, at whatever command: connections, recipients and messages. */
  readonly refusals: Readonly<Record<RefusalReason, number>>;
}

/** The listener's running totals. */
export class SmtpCounters {
  connectionsTotal = 0;
  acceptedMessages = 0;
  refusedMessages = 0;
  readonly #refusals: Record<RefusalReason, number> = {
    line_ending: 0,
    too_large: 0,
    mail_loop: 0,
    no_room: 0,
    no_recipients: 0,
    sender_blocked: 0,
    store_error: 0,
    unknown_recipient: 0,
    too_many_unknown: 0,
    too_many_recipients: 0,
    too_many_clients: 0,
    too_many_from_address: 0,
    bad_commands: 0,
    timeout: 0,
    too_slow: 0,
    shutting_down: 0,
  };

  refused(reason: RefusalReason): void {
    this.#refusals[reason] += 1;
  }

  snapshot(connections: number): SmtpStats {
    return {
      connections,
      connectionsTotal: this.connectionsTotal,
      acceptedMessages: this.acceptedMessages,
      refusedMessages: this.refusedMessages,
      refusals: { ...this.#refusals },
    };
  }
}
