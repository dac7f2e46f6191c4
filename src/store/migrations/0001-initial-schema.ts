import { newIdentity, putMeta } from '../engine/meta.js';
import type { Writer } from '../engine/tables.js';

/** An empty store becomes version 1: the tables come with opening, the identity is made here. */
export const initialSchema: Migration = {
  name: 'initial schema',
  up: (writer, nowMs) => putMeta(writer, 'identity', newIdentity(nowMs)),
};

/**
 * One step of the schema. Its number is its place in the list in `open-store.ts`, from 1. It runs in one unit of work
 * with the new schema number, so that a process killed half-way leaves the old schema or the new.
 */
export interface Migration {
  readonly name: string;
  readonly up: (writer: Writer, nowMs: number) => void;
  /**
   * The rest of a step that has to write every message, in units of work of bounded size: one unit holds in
   * memory what it writes. Gets where the last one ended, null at the start, and says where it ended itself, null
   * at the end. The store has the new schema meanwhile, and a program that opens it goes on before all else.
   */
  readonly more?: (writer: Writer, nowMs: number, position: Buffer | null) => Buffer | null;
}
