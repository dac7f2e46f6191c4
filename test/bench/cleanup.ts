/** What must be undone however the bench ends, also by an interrupt. */
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

/** Calls `undo`, which is synchronous, at the end of the process. The returned function cancels that. */
export function undoAtExit(undo: () => void): () => void {
  pending.add(undo);
  return () => pending.delete(undo);
}
