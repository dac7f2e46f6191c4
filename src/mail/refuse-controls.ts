/**
 * Throws for a value with a line break, NUL or other control: the caller has checked values that come from
 * outside, and one that would end its line does not go on the wire. `what` is named, the value is not.
 */
export function refuseControls(what: string, value: string): void {
  if (/\p{Cc}/u.test(value)) throw new Error(`${what} has control characters`);
}
