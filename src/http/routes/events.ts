import { EVENT_OPERATIONS } from '../../contract/events.js';
import { Refusal } from '../../domain/errors.js';
import type { FeedPlace } from '../../usecases/events/event-feed.js';
import { writePlace } from '../../usecases/events/event-places.js';
import {
  type EventDeps,
  type EventLook,
  followEvents,
  listEvents,
  type StreamPart,
} from '../../usecases/events/list-events.js';
import type { Picked } from '../../usecases/events/look.js';
import { readLimit, readWaitMs } from '../server/query.js';
import { jsonBytes, type Reply, type RequestOf, type Route, routes } from '../server/route.js';

/** The feed of events, as pages or as a stream. */
export function eventRoutes(deps: EventDeps): Route[] {
  return routes(EVENT_OPERATIONS, {
    listEvents: async request => {
      const { account, query, requester } = request;
      const filter = {
        accountId: account.id,
        types: query.list('types'),
        inboxId: query.get('inbox_id') ?? null,
      };
      const limit = readLimit(query);
      const waitMs = readWaitMs(query) ?? 0;
      if (wantsStream(request)) {
        // What an earlier stream has come to counts more than where it began.
        const after = requester.headers['last-event-id'];
        const start = typeof after === 'string' && after !== '' ? after : (query.get('after') ?? null);
        return stream(followEvents(deps, { ...filter, after: start }, requester));
      }
      const input = { ...filter, after: query.get('after') ?? null, limit, waitMs };
      return page(await listEvents(deps, input, requester));
    },
  });
}

type EventsRequest = RequestOf<(typeof EVENT_OPERATIONS)['listEvents']>;

/** Is a stream asked for by name? Browsers ask for it and nothing else, most other clients for anything. */
function wantsStream({ requester }: EventsRequest): boolean {
  const accept = requester.headers.accept ?? '';
  return accept.split(',').some(range => range.split(';')[0]?.trim().toLowerCase() === 'text/event-stream');
}

const OPEN = Buffer.from('{"events":[');
const COMMA = Buffer.from(',');

function page({ picked, place }: EventLook): Reply<never> {
  const parts: Buffer[] = [OPEN];
  for (const [index, { json }] of picked.entries()) {
    if (index > 0) parts.push(COMMA);
    parts.push(json);
  }
  parts.push(Buffer.from(`],"next_cursor":${JSON.stringify(writePlace(place))}}`));
  const bytes = Buffer.concat(parts);
  return jsonBytes({ size: bytes.length, bytes: [bytes] });
}

/** How soon a client that was cut off may come again, in milliseconds; it is a field of the first piece. */
const RETRY_MS = 2_000;

function stream(parts: AsyncGenerator<StreamPart, void>): Reply<never> {
  return { kind: 'event-stream', pieces: pieces(parts) };
}

/** Server-Sent Events (HTML standard, section 9.2). An id without data is kept by clients and tells them nothing. */
async function* pieces(parts: AsyncGenerator<StreamPart, void>): AsyncGenerator<Buffer, void> {
  let isFirst = true;
  try {
    for await (const { picked, place } of parts) {
      if (isFirst) yield Buffer.from(`retry: ${RETRY_MS}\n${idOf(place)}`);
      else if (picked.length === 0) yield Buffer.from(`: heartbeat\n${idOf(place)}`);
      else yield joined(picked);
      isFirst = false;
    }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { code, message } = error.failure;
    yield Buffer.from(`event: error\ndata: ${JSON.stringify({ error: { code, message } })}\n\n`);
  }
}

const idOf = (place: FeedPlace): string => `id: ${writePlace(place)}\n\n`;

/** Mostly there is one, whose bytes all who are told of it share. */
function joined(picked: readonly Picked[]): Buffer {
  const [first, ...others] = picked.map(messageOf);
  return first !== undefined && others.length === 0 ? first : Buffer.concat(picked.map(messageOf));
}

const GAP = Buffer.from('\n\n');
/** By the JSON of an event, which all who are told of it at once share. */
const messages = new WeakMap<Buffer, Buffer>();

function messageOf({ event, json }: Picked): Buffer {
  const known = messages.get(json);
  if (known !== undefined) return known;
  const head = Buffer.from(`id: ${writePlace(event)}\nevent: ${event.type}\ndata: `);
  const message = Buffer.concat([head, json, GAP]);
  messages.set(json, message);
  return message;
}
