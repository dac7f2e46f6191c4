import { parseBytes } from './parse-text.js';

/** The parser in the form that the runner of the recorded cases takes. */
export default async function parseCase(raw: Buffer): Promise<object> {
  const { content, ids, files } = await parseBytes(raw);
  return { content, data: files, ids: { references: ids.references, in_reply_to: ids.inReplyTo } };
}
