import { refuse } from '../../domain/errors.js';
import type { AccountId } from '../../domain/ids.js';
import type { CursorCodec } from '../../domain/paging.js';
import type { Cursors } from '../shared/pages.js';
import type { Ranking, Rankings } from './rankings.js';

/** Where a page by relevance begins: in which ranking, and at which place of it. */
export interface RankedPlace {
  readonly name: string;
  readonly place: number;
}

/** Of a list in the order of relevance. */
export function placeCursors(codec: CursorCodec, scope: string): Cursors<RankedPlace> {
  return {
    write: ({ name, place }) => codec.encodeText(scope, `${name} ${place}`),
    read: cursor => {
      const [name, place] = codec.decodeText(scope, cursor)?.split(' ') ?? [];
      return name === undefined || place === undefined ? null : { name, place: Number(place) };
    },
  };
}

/** The ranking that a cursor goes on in. Refuses one whose time is over. */
export function rankingAt<Type extends Ranking['type']>(
  rankings: Rankings,
  accountId: AccountId,
  name: string,
  type: Type,
): Extract<Ranking, { type: Type }> {
  const ranking = rankings.find(accountId, name);
  if (ranking?.type === type) return ranking as Extract<Ranking, { type: Type }>;
  throw refuse(
    'invalid_cursor',
    'The order of relevance of this search is not kept any more: it is for ten minutes, for the latest searches of an account, until the service is restarted. Search again without a cursor.',
  );
}
