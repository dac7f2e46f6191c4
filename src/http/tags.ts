/** Chapters of the published document, in its order. */
export const TAGS = {
  inboxes: 'Addresses of the account and the rules of who may write to and from them.',
  messages: 'Received mail: lists, search, contents, original bytes and attachments.',
  labels: 'Labels on received and sent messages.',
  sending: 'Sending, replying, forwarding, sent copies and the allowance.',
  drafts: 'Messages that are not sent yet.',
  threads: 'Conversations of received and sent messages.',
  trash: 'Messages that can still be brought back.',
  signup: 'How a human approves access and an agent gets its key.',
  feedback: 'Words to the operator.',
  service: 'The service itself.',
} as const;

export type Tag = keyof typeof TAGS;
