import { FeedbackInput, FeedbackResult } from '../../contract/feedback.js';
import { type SubmitFeedbackDeps, submitFeedback } from '../../usecases/accounts/feedback.js';
import { json, type Route } from '../server/route.js';

const BODY_LIMIT = 20 * 1024;

/** Decisions, Feedback. */
export function feedbackRoutes(deps: SubmitFeedbackDeps): Route[] {
  return [
    {
      operationId: 'createFeedback',
      method: 'POST',
      path: '/v1/feedback',
      auth: 'bearer',
      body: { limitBytes: BODY_LIMIT, schema: FeedbackInput, invalid: 'invalid_request' },
      tag: 'feedback',
      summary: 'Send feedback to the operator',
      description: 'Also the way to ask for larger allowances. There is no limit on how often.',
      responses: { 201: { description: 'It was received.', schema: FeedbackResult } },
      errors: ['invalid_request', 'internal_error'],
      handle: async ({ account, body }) => {
        return json(201, await submitFeedback(deps, { ...(body as FeedbackInput), account }));
      },
    },
  ];
}
