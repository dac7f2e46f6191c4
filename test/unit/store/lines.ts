import { jsonValue, type Table } from '../../../src/store/engine/tables.js';

/** Any table of the store will do for what is claimed of all of them: this one takes text for text. */
export const linesTable: Table<string, string> = {
  name: 'addresses',
  encodeKey: key => Buffer.from(key, 'utf8'),
  ...jsonValue<string>(1),
};

export const FIRST = Buffer.alloc(0);
export const LAST = Buffer.alloc(64, 0xff);
