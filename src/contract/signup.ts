import { z } from 'zod';
import { Id, type Wire } from './common.js';
import { BODY_BYTES, MAX_ANSWER_LENGTH } from './limits.js';
import { operations } from './operation.js';

export const SignupInput = z.strictObject({}).meta({ id: 'SignupInput', examples: [{}] });

export const SignupResult = z
  .object({
    status: z.literal('awaiting_human'),
    approval_url: z.string().describe('For the human, who signs in there and approves.'),
    message: z.string(),
  })
  .meta({
    id: 'SignupResult',
    examples: [
      {
        status: 'awaiting_human',
        approval_url: 'https://postern.example.com/approve',
        message: 'Ask your human to open approval_url, approve, and hand you the phrase it shows.',
      },
    ],
  });

/** An optional research answer. Any value is accepted; one of the wrong type or length is ignored. */
const answer = z
  .unknown()
  .describe(
    `Optional research answer: text of at most ${MAX_ANSWER_LENGTH} characters; anything else is ignored.`,
  );

export const ClaimInput = z
  .strictObject({
    phrase: z.string().describe('The six words; letter case and white space do not matter.'),
    discovery_source: answer.optional(),
    intended_use: answer.optional(),
  })
  .meta({ id: 'ClaimInput', examples: [{ phrase: 'amber bridge cedar delta ember forest' }] });
export type ClaimInput = Wire<typeof ClaimInput>;

export const ClaimResult = z
  .object({
    account_id: Id,
    credential: z.string().describe('The API key. It is shown this once: store it privately.'),
    token_type: z.literal('Bearer'),
    message: z.string(),
  })
  .meta({
    id: 'ClaimResult',
    examples: [
      {
        account_id: '01936f30-0d1c-7a2b-9c3d-4e5f60718293',
        credential: 'pst_EXAMPLE',
        token_type: 'Bearer',
        message: 'Store the credential privately. List the inboxes of the account first.',
      },
    ],
  });
export type ClaimResult = Wire<typeof ClaimResult>;

export const SIGNUP_OPERATIONS = operations({
  createSignup: {
    method: 'POST',
    path: '/v1/signups',
    auth: 'none',
    isGuarded: true,
    body: { limitBytes: BODY_BYTES.small, schema: SignupInput, invalid: 'invalid_request' },
    tag: 'signup',
    summary: 'Ask how to get access',
    description:
      'Tells where a human approves access. Nothing is kept and no mail is sent: there is nothing to poll for.',
    responses: { 202: { description: 'What to tell the human.', schema: SignupResult } },
  },
  createClaim: {
    method: 'POST',
    path: '/v1/claims',
    auth: 'none',
    isGuarded: true,
    body: { limitBytes: BODY_BYTES.small, schema: ClaimInput, invalid: 'invalid_request' },
    tag: 'signup',
    summary: 'Redeem a claim phrase for a key',
    description:
      'A phrase works once, and adds a key: keys, inboxes and mail of the account stay as they are. No inbox is made.',
    responses: { 201: { description: 'The key, shown this once.', schema: ClaimResult } },
    errors: ['invalid_claim'],
  },
});
