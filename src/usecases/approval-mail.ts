import { toInstant } from '../domain/instants.js';

/** How the service calls itself, and where it is reached. */
export interface ServiceNames {
  readonly name: string;
  /** Without a trailing slash; links are built on it and on nothing that a request says. */
  readonly publicUrl: string;
}

/**
 * The mail with the link to approve. Plain and short; nothing in it was typed by whoever asked, so that nobody can
 * send words of their own to a stranger in our name.
 */
export function approvalMail(
  service: ServiceNames,
  facts: { readonly url: string; readonly client: string; readonly requestedAt: number },
): { readonly subject: string; readonly text: string } {
  const at = toInstant(facts.requestedAt).slice(0, 16).replace('T', ' ');
  return {
    subject: `Approve access for an AI agent at ${service.name}`,
    text: [
      `Somebody asked ${service.name} to let an AI agent use the account of`,
      'this email address.',
      '',
      'If it was you, open this link, read the page, and press Approve:',
      '',
      facts.url,
      '',
      'Opening the link grants nothing. Approving gives you six words to hand to',
      'one agent of your choice. With them it gets access to the whole account:',
      'it can read, send, label and delete mail in all of its inboxes.',
      '',
      'The link works for 12 hours, and for one approval. Do not forward it.',
      '',
      `Asked for on ${at} UTC from the network address ${facts.client}.`,
      'If it was not you, ignore this mail: nothing will happen.',
      '',
      '-- ',
      `${service.name}, ${service.publicUrl}`,
      '',
    ].join('\n'),
  };
}
