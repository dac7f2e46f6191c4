import { get } from 'node:http';
import { Contract } from './contract.js';
import type { Json } from './contract-schemas.js';

let contract: Promise<Contract> | null = null;

/**
 * The contract that the daemon under test publishes. Asked for once in a test process: its boxes run one
 * program, whose documents differ in nothing but name and address.
 */
export function servedContract(port: number): Promise<Contract> {
  contract ??= readDocument(port).then(document => new Contract(document));
  contract.catch(() => {
    contract = null;
  });
  return contract;
}

/** `GET /openapi.json`, without a credential. */
export function readDocument(port: number): Promise<Json> {
  return new Promise((resolve, reject) => {
    // Not `fetch`, which keeps a connection that the daemon would wait for at its end.
    const request = get({ host: '127.0.0.1', port, path: '/openapi.json', agent: false }, response => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        if (response.statusCode === 200) resolve(JSON.parse(text) as Json);
        else reject(new Error(`GET /openapi.json: ${response.statusCode} ${text}`));
      });
    });
    request.on('error', reject);
  });
}
