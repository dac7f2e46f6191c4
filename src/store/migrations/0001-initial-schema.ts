import { newIdentity, putMeta } from '../meta.js';
import type { Migration } from './migration.js';

/** An empty store becomes version 1: the tables come with opening, the identity is made here. */
export const initialSchema: Migration = {
  name: 'initial schema',
  up: (writer, nowMs) => putMeta(writer, 'identity', newIdentity(nowMs)),
};
