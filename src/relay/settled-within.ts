/** Resolves when all of them are settled, well or badly, or when the time is up. */
export async function settledWithin(promises: readonly Promise<unknown>[], timeoutMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeIsUp = new Promise<void>(resolve => {
    timer = setTimeout(resolve, timeoutMs);
  });
  await Promise.race([Promise.allSettled(promises), timeIsUp]);
  clearTimeout(timer);
}
