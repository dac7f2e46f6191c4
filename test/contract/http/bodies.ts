import fc from 'fast-check';

/** Words, and text about as long as it may be. Control characters are forbidden by words only. */
export const text = (maxBytes: number) => {
  const atLimit = fc
    .tuple(fc.constantFrom('a', 'é', '漢', '\u{1f600}'), fc.constantFrom(-1, 0, 1), fc.nat(2))
    .map(([unit, more, spaces]) => {
      const count = Math.floor(maxBytes / Buffer.byteLength(unit)) + more;
      return `${' '.repeat(spaces)}${unit.repeat(count)}`;
    });
  return fc.oneof(
    { weight: 20, arbitrary: fc.stringMatching(/^ ?[a-zA-Zé漢]{1,9} ?$/) },
    { weight: 2, arbitrary: atLimit },
    { weight: 1, arbitrary: fc.constantFrom('', '   ') },
  );
};

export const label = text(128);
export const name = fc.oneof(fc.constant(null), text(256));
export const id = fc.oneof(
  { weight: 20, arbitrary: fc.uuid() },
  { weight: 1, arbitrary: fc.constantFrom('x', '', '01936F41-77AA-7B10-9C21-0D1E2F3A4B5C') },
);

/** Now and then something that is not of the type that is asked for. */
export const mostly = (arbitrary: fc.Arbitrary<unknown>) =>
  fc.oneof(
    { weight: 25, arbitrary },
    { weight: 1, arbitrary: fc.oneof(fc.constantFrom(null, true, 7, {}, ['a'], [7]), fc.jsonValue()) },
  );

/** Now and then with a member that there is not. */
export const loosely = (arbitrary: fc.Arbitrary<object>) =>
  fc.oneof(
    { weight: 12, arbitrary },
    { weight: 1, arbitrary: arbitrary.map(body => ({ ...body, colour: 'red' })) },
  );

export interface Input {
  readonly route: string;
  readonly body: fc.Arbitrary<object>;
  /** What the document can say in words alone. */
  readonly isBeyondTypes?: (body: object) => boolean;
}

export const key = fc.oneof(
  { weight: 8, arbitrary: fc.stringMatching(/^[A-Za-z0-9_-]{1,129}$/) },
  { weight: 1, arbitrary: fc.constantFrom('', 'a b', 'é') },
);

/** The same for a text of which the document tells a part in words: never another text. */
export const typed = (arbitrary: fc.Arbitrary<unknown>) =>
  fc.oneof(
    { weight: 25, arbitrary },
    { weight: 1, arbitrary: fc.constantFrom<unknown>(null, true, 7, {}, ['a']) },
  );
