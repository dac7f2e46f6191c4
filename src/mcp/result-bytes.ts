import { randomBytes } from 'node:crypto';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { inSlices, piecesOfText } from '../lib/slices.js';

/** What a tool has found, in JSON, and what a model should know about it. */
export interface Found {
  readonly json: string;
  readonly note: string | null;
}

/**
 * The result of a call, as the library hands it on and as it is sent. The library would copy and encode all of it, twice
 * and in one go, for longer than the loop may be held. So it gets a mark in the place of what was found, and that is
 * put there when the answer is written.
 */
export class ResultBytes {
  /** Nobody outside can know it. */
  readonly #mark = randomBytes(16).toString('hex');
  readonly #json: string;
  /** For the library. */
  readonly marked: CallToolResult;

  constructor({ json, note }: Found) {
    this.#json = json;
    // The text is for clients that know no structured content (MCP, "Tools", structured content).
    const texts = [this.#mark, ...(note === null ? [] : [note])];
    this.marked = {
      content: texts.map(text => ({ type: 'text' as const, text })),
      structuredContent: { mark: this.#mark },
    };
  }

  /** The answer of the library, in JSON, with what was found in the places of the marks. */
  async fill(answer: string): Promise<Buffer[]> {
    const text = `"${this.#mark}"`;
    const parts = answer.split(new RegExp(`(\\{"mark":${text}\\}|${text})`));
    const bytes: Buffer[] = [];
    for (const part of parts) {
      if (part === text) await inSlices(this.#asText(bytes));
      else if (part.includes(text)) await inSlices(this.#asObject(bytes));
      else bytes.push(Buffer.from(part));
    }
    return bytes;
  }

  *#asText(bytes: Buffer[]): Generator<void, void> {
    bytes.push(QUOTE);
    for (const piece of piecesOfText(this.#json)) {
      bytes.push(Buffer.from(JSON.stringify(piece).slice(1, -1)));
      yield;
    }
    bytes.push(QUOTE);
  }

  *#asObject(bytes: Buffer[]): Generator<void, void> {
    for (const piece of piecesOfText(this.#json)) {
      bytes.push(Buffer.from(piece));
      yield;
    }
  }
}

const QUOTE = Buffer.from('"');
