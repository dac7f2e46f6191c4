import { setImmediate as nextTurn } from 'node:timers/promises';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { EVENT_TYPES } from '../contract/events.js';
import type { DeliveryOutcome, ParseOutcome } from '../usecases/ports.js';
import { BETWEEN, Spread, Tally } from './tally.js';

/** Sizes of messages, from a line to the largest that are taken. */
const SIZE_BUCKETS = [1e3, 4e3, 16e3, 64e3, 256e3, 1e6, 4e6, 16e6, 64e6, 256e6];
const SECOND_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

const MAIL_OUTCOMES = [
  'accepted',
  'no_recipients',
  'blocked',
  'unproven',
  'refused_by_domain',
  'check_later',
  'no_room',
  'store_error',
] as const;
const PARSE_OUTCOMES = ['parsed', 'timeout', 'memory', 'error', 'worker_died', 'stopped'] as const;
const SEND_OUTCOMES = ['accepted', 'rejected', 'unknown'] as const;
const ATTEMPT_OUTCOMES = ['delivered', 'failed', 'later', 'unknown', 'waits'] as const;
const CALL_OUTCOMES = ['taken', 'failed', 'stopped'] as const;
const PROTOCOLS = ['none', 'TLSv1.2', 'TLSv1.3'] as const;

export type MailOutcome = (typeof MAIL_OUTCOMES)[number];
type MailWay = 'smtp' | 'local';

/**
 * What happens while the daemon runs, counted since its start. Base units and names as Prometheus asks for; no label has
 * a value that somebody outside can choose.
 */
export class Figures {
  readonly registry = new Registry();
  readonly #mail: Tally;
  readonly #mailBytes: Spread;
  readonly #parses: Tally;
  readonly #parseSeconds: Spread;
  readonly #sends: Tally;
  readonly #attempts: Tally;
  readonly #protocols: Tally;
  readonly #requests: Tally;
  readonly #requestSeconds: Spread;
  readonly #events: Tally;
  readonly #calls: Tally;
  readonly #callSeconds: Spread;

  constructor() {
    const tally = (
      name: string,
      help: string,
      labels: readonly string[],
      known: readonly (readonly string[])[],
    ) => new Tally(this.registry, { name, help, labels }, known);
    const spread = (name: string, help: string, bounds: readonly number[]) =>
      new Spread(this.registry, { name, help }, bounds);
    this.#mail = tally(
      'postern_mail_received_total',
      'Messages at their final dot, by how that ended and whether they came over SMTP or from an inbox here.',
      ['way', 'outcome'],
      MAIL_OUTCOMES.flatMap(outcome => [
        ['smtp', outcome],
        ['local', outcome],
      ]),
    );
    this.#mailBytes = spread(
      'postern_mail_received_bytes',
      'Sizes of messages that were accepted.',
      SIZE_BUCKETS,
    );
    this.#parses = tally(
      'postern_parses_total',
      'Attempts to prepare the content of a message, by how they ended.',
      ['outcome'],
      each(PARSE_OUTCOMES),
    );
    this.#parseSeconds = spread(
      'postern_parse_duration_seconds',
      'Time from when a message was given to the parser threads to its prepared content.',
      SECOND_BUCKETS,
    );
    this.#sends = tally(
      'postern_sends_total',
      'Messages that were handed to the relay, or taken for delivery from here, by outcome.',
      ['outcome'],
      each(SEND_OUTCOMES),
    );
    this.#attempts = tally(
      'postern_delivery_attempts_total',
      'Recipients for whom a mail server elsewhere was tried, by what came of it; later: tried again, waits: not tried yet.',
      ['outcome'],
      each(ATTEMPT_OUTCOMES),
    );
    this.#protocols = tally(
      'postern_delivered_recipients_total',
      'Recipients to whom a message was delivered, by the version of TLS.',
      ['tls'],
      each(PROTOCOLS),
    );
    this.#requests = tally(
      'postern_http_requests_total',
      'Answers of the HTTP listener, by method, route (as in /openapi.json) and status.',
      ['method', 'route', 'status'],
      [],
    );
    this.#requestSeconds = spread(
      'postern_http_request_duration_seconds',
      'Time from the head of a request to its answer; requests that wait for events are left out.',
      SECOND_BUCKETS,
    );
    this.#events = tally(
      'postern_events_total',
      'Events of accounts that were written, by type.',
      ['type'],
      each(EVENT_TYPES),
    );
    this.#calls = tally(
      'postern_webhook_calls_total',
      'Calls of webhooks, by whether the endpoint took the event.',
      ['outcome'],
      each(CALL_OUTCOMES),
    );
    this.#callSeconds = spread(
      'postern_webhook_call_duration_seconds',
      'Time that a call of a webhook took.',
      SECOND_BUCKETS,
    );
    collectDefaultMetrics({ register: this.registry });
    // Their cost grows with the connections, and process_open_fds tells the same.
    for (const name of COSTLY) this.registry.removeSingleMetric(name);
  }

  /** @param bytes size of the message; null when it is not kept */
  mail(way: MailWay, outcome: MailOutcome, bytes: number | null): void {
    this.#mail.add(way + BETWEEN + outcome);
    if (bytes !== null) this.#mailBytes.add(bytes);
  }

  parse(outcome: ParseOutcome, seconds: number): void {
    this.#parses.add(outcome.status === 'gave_up' ? outcome.reason : outcome.status);
    if (outcome.status === 'parsed') this.#parseSeconds.add(seconds);
  }

  send(outcome: (typeof SEND_OUTCOMES)[number]): void {
    this.#sends.add(outcome);
  }

  delivery({ state, tls, retryAfterMs }: DeliveryOutcome): void {
    this.#attempts.add(state === 'later' && retryAfterMs !== undefined ? 'waits' : state);
    if (state === 'delivered') this.#protocols.add(tls ?? 'none');
  }

  /** @param seconds null for a request that waits on purpose */
  request(method: string, route: string, status: number, seconds: number | null): void {
    this.#requests.add(method + BETWEEN + route + BETWEEN + status);
    if (seconds !== null) this.#requestSeconds.add(seconds);
  }

  event(type: string): void {
    this.#events.add(type);
  }

  /** All of it as Prometheus reads it, written in turns of the loop. */
  async text(): Promise<string> {
    const parts: string[] = [];
    let since = performance.now();
    for (const { name } of this.registry.getMetricsAsArray()) {
      parts.push(await this.registry.getSingleMetricAsString(name));
      if (performance.now() - since < TURN_MS) continue;
      await nextTurn();
      since = performance.now();
    }
    return `${parts.join('\n\n')}\n`;
  }

  webhookCall(outcome: (typeof CALL_OUTCOMES)[number], seconds: number): void {
    this.#calls.add(outcome);
    if (outcome !== 'stopped') this.#callSeconds.add(seconds);
  }
}

/** The main loop is held no longer than this, or than one metric takes. */
const TURN_MS = 2;

const COSTLY = [
  'nodejs_active_handles',
  'nodejs_active_handles_total',
  'nodejs_active_requests',
  'nodejs_active_requests_total',
  'nodejs_active_resources',
  'nodejs_active_resources_total',
];

function each(values: readonly string[]): string[][] {
  return values.map(value => [value]);
}
