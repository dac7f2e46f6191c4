import { parseBytes } from './parse-text.js';

/** Our parser, in the form that the runner of recorded cases needs. */
export default async function parseCase(raw: Buffer): Promise<object> {
  const { content, ids, files } = await parseBytes(raw);
  return { content, data: files, ids: { references: ids.references, in_reply_to: ids.inReplyTo } };
}
