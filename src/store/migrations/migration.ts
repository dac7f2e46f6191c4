import type { Writer } from '../reader-writer.js';

/**
 * One step of the schema. Its number is its place in the list of `migrate.ts`, from 1. It runs in one unit
 * of work with the new schema number, so that a process killed half-way leaves the old schema or the new.
 */
export interface Migration {
  readonly name: string;
  readonly up: (writer: Writer, nowMs: number) => void;
}
