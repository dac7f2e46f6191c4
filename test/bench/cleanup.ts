/** What has to be undone however the bench ends, an interrupt included. */
const pending = new Set<() => void>();

process.on('exit', () => {
  for (const undo of pending) undo();
});
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  process.once(signal, () => process.exit(code));
}

/** Does `undo`, which is synchronous, at the end of the process; the returned function takes that back. */
export function undoAtExit(undo: () => void): () => void {
  pending.add(undo);
  return () => pending.delete(undo);
}
