/** Where Redis listens: our own child on a unix socket, or a server somebody else runs. */
export type RedisAddress =
  | { readonly mode: 'managed'; readonly socketPath: string }
  | { readonly mode: 'external'; readonly url: string };

/** The address as a log may show it: never with the password. */
export function describeRedisAddress(address: RedisAddress): string {
  if (address.mode === 'managed') return address.socketPath;
  if (!URL.canParse(address.url)) return '(not a URL)';
  const url = new URL(address.url);
  return `${url.protocol}//${url.host}${url.pathname}`;
}
