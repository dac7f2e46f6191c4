import createClient from 'openapi-fetch';
import type { paths } from './schema.js';

const { BASE_URL = '', API_KEY = '' } = process.env;

/** A client whose types come from the published document. */
export const client = createClient<paths>({
  baseUrl: BASE_URL,
  headers: { Authorization: `Bearer ${API_KEY}` },
});

/** The data of an answer; an error ends the program. */
export function must<Data>(answer: { data?: Data; error?: { error: { code: string } } }): Data {
  if (answer.data === undefined) throw new Error(`it answered ${answer.error?.error.code}`);
  return answer.data;
}

/** Asks again until there is an answer: the API has no events. */
export async function until<Value>(ask: () => Promise<Value | undefined>): Promise<Value> {
  for (;;) {
    const value = await ask();
    if (value !== undefined) return value;
    await new Promise(resolve => setTimeout(resolve, 20));
  }
}
