/**
 * Loaded before a program with `--import`: its clock starts at `CLOCK_STARTS_AT` (milliseconds since the epoch)
 * and goes on at the usual pace.
 */
const RealDate = Date;
const startsAt = Number(process.env.CLOCK_STARTS_AT);
const now = (): number => startsAt + Math.floor(process.uptime() * 1000);

globalThis.Date = class extends RealDate {
  constructor(...given: [] | [number]) {
    super(...(given.length === 0 ? ([now()] as [number]) : given));
  }

  static override now(): number {
    return now();
  }
} as DateConstructor;
