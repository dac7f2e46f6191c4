import { z } from 'zod';
import { EVENT_OPERATIONS, EventPage } from '../events.js';
import { MAX_EVENT_WAIT_S } from '../limits.js';
import { MESSAGE_OPERATIONS, ReceivedSummary } from '../messages.js';
import { include_preview, inputOf, READS, STRANGERS, tools } from './tool.js';

const { listEvents } = EVENT_OPERATIONS;
const { countMessages, listMessages } = MESSAGE_OPERATIONS;

const wait = z
  .int()
  .min(0)
  .max(MAX_EVENT_WAIT_S)
  .optional()
  .describe(`Seconds to wait when there is none yet: ${MAX_EVENT_WAIT_S} by default, 0 not at all.`);

/** Learning of mail, and of whatever else happens. */
export const EVENT_TOOLS = tools({
  wait_for_message: {
    title: 'Wait for a received message',
    description: `The first message of an inbox that meets all conditions and became ready after the place in after; without it, from now on. message is null when none came in time: call again with next_cursor as after, so that nothing is missed in between. ${STRANGERS}`,
    annotations: READS,
    input: inputOf(countMessages, {
      after: z
        .string()
        .optional()
        .describe('A place in the feed of events: next_cursor of this tool or of list_events.'),
      wait,
      include_preview,
    }).omit({ before: true }),
    output: z.object({
      message: ReceivedSummary.nullable(),
      next_cursor: z.string().describe('Pass it as after for the message that follows.'),
    }),
    operation: listMessages,
    quotesStrangers: true,
  },
  list_events: {
    title: 'Learn what has happened',
    description: `What has happened in the account, oldest first: mail that came, what became of what was sent, Trash, inboxes. With wait, the answer is held back until there is an event. Pass next_cursor as after for what comes next; without after, from the oldest that is kept (30 days). ${STRANGERS}`,
    annotations: READS,
    input: inputOf(listEvents),
    output: EventPage,
    operation: listEvents,
    quotesStrangers: true,
  },
});
