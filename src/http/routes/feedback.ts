import { FEEDBACK_OPERATIONS } from '../../contract/feedback.js';
import { type SubmitFeedbackDeps, submitFeedback } from '../../usecases/accounts/feedback.js';
import { json, type Route, routes } from '../server/route.js';

export function feedbackRoutes(deps: SubmitFeedbackDeps): Route[] {
  return routes(FEEDBACK_OPERATIONS, {
    createFeedback: async ({ account, body }) => json(201, await submitFeedback(deps, { ...body, account })),
  });
}
