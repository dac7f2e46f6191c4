import { readBlob } from '../store/blob-reader.js';
import type { FilePlace } from '../store/sent.js';
import type { Store } from '../store/store.js';
import { type ByteStream, inMemory, joinStreams } from './byte-stream.js';

/**
 * Of keys outside the bodies only this one is followed by an empty list; within a string the quotes would be
 * escaped.
 */
const NO_FILES = '"attachments":[]';

/** Puts the files, which are not held in memory, where the list of them stands empty. */
export function fillInFiles(json: string, files: readonly FilePlace[], store: Store): ByteStream {
  if (files.length === 0) return inMemory([Buffer.from(json)]);
  const at = json.lastIndexOf(NO_FILES) + NO_FILES.length - 1;
  const streams = files.flatMap((file, index) => [text(index === 0 ? '' : ','), ...encodedFile(store, file)]);
  return joinStreams([text(json.slice(0, at)), ...streams, text(json.slice(at))]);
}

function encodedFile(store: Store, file: FilePlace): ByteStream[] {
  const { filename, type, disposition, contentId, blob } = file;
  const head = JSON.stringify({ filename, type, content: '' }).slice(0, -2);
  const rest = JSON.stringify(contentId === undefined ? { disposition } : { disposition, contentId });
  return [
    text(head),
    { size: 4 * Math.ceil(blob.size / 3), bytes: base64Of(store, file) },
    text(`",${rest.slice(1)}`),
  ];
}

/** Chunks are whole groups of three bytes long (`store/blobs.ts`), so that only the last one is padded. */
async function* base64Of(store: Store, { blob }: FilePlace): AsyncGenerator<Uint8Array> {
  for await (const chunk of readBlob(store, blob)) yield Buffer.from(chunk.toString('base64'), 'latin1');
}

function text(json: string): ByteStream {
  return inMemory([Buffer.from(json, 'utf8')]);
}
