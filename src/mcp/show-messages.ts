import type { Bounded } from './read-bounded.js';
import { isObject, type JsonObject, objectsOf, textOf } from './values.js';

/** How a message is shown: all of it, or what has to be read first. */
export interface Showing {
  readonly isFull: boolean;
  /** The answer that it is in, whose long strings were cut. */
  readonly from: Bounded;
}

/** A received message (`getMessage`). */
export function showReceived(message: JsonObject, showing: Showing): JsonObject {
  const { content, ...rest } = message;
  if (!isObject(content)) return rest;
  if (showing.isFull) return { ...rest, content, ...cutOf(content, showing) };
  const { from, reply_to, to, cc, subject, date, attachments } = content;
  const { words, ...about } = wordsOf(content, showing);
  return { ...rest, content: { from, reply_to, to, cc, subject, date, ...words, attachments }, ...about };
}

/** A sent message (`getSentMessage`), or one of a conversation. */
export function showSent(message: JsonObject, showing: Showing): JsonObject {
  const { submission, reply_text, ...rest } = message;
  if (!isObject(submission)) return message;
  const files = objectsOf(submission.attachments).map((file, index) => showFile(file, index, showing));
  if (showing.isFull) {
    const bodies = { ...submission, reply_text };
    return {
      ...rest,
      reply_text,
      submission: { ...submission, attachments: files },
      ...cutOf(bodies, showing),
    };
  }
  const { from, to, cc, bcc, subject } = submission;
  const { words, ...about } = wordsOf({ ...submission, reply_text }, showing);
  return {
    ...rest,
    submission: { from, to, cc, bcc, subject, text: words.text ?? '', attachments: files },
    ...about,
  };
}

/** A draft (`getDraft`), always in full. */
export function showDraft(draft: JsonObject, from: Bounded): JsonObject {
  const { content, ...rest } = draft;
  if (!isObject(content)) return draft;
  const showing = { isFull: true, from };
  const files = objectsOf(content.attachments).map((file, index) => showFile(file, index, showing));
  return { ...rest, content: { ...content, attachments: files }, ...cutOf(content, showing) };
}

/** A file with its id and, unless there is too much of it, its bytes. Ids of files are their numbers (`placeFiles`). */
function showFile(file: JsonObject, index: number, { isFull, from }: Showing): JsonObject {
  const { content, ...description } = file;
  const isLeftOut = !isFull || typeof content !== 'string' || from.isCut(content);
  return { id: `${index + 1}`, ...description, ...(isLeftOut ? {} : { content }) };
}

interface Words {
  readonly words: { readonly text: unknown; readonly html?: unknown };
  readonly body_source: 'reply_text' | 'text' | 'html' | null;
  readonly body_truncated: boolean;
}

/** What has to be read of a message: the new words of an answer, else its text; HTML only where there is no text. */
export function wordsOf(bodies: JsonObject, { from }: Pick<Showing, 'from'>): Words {
  for (const name of ['reply_text', 'text'] as const) {
    const text = textOf(bodies[name]);
    if (text !== null) return { words: { text }, body_source: name, body_truncated: from.isCut(text) };
  }
  const html = textOf(bodies.html);
  if (html === null) return { words: { text: null }, body_source: null, body_truncated: false };
  return { words: { text: null, html }, body_source: 'html', body_truncated: from.isCut(html) };
}

function cutOf(
  { text, html, reply_text }: JsonObject,
  { from }: Showing,
): { readonly body_truncated: boolean } {
  return { body_truncated: [text, html, reply_text].some(body => from.isCut(body)) };
}
