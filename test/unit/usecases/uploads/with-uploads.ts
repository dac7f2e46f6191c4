import type { AccountId } from '../../../../src/domain/ids.js';
import { uploadedBytes } from '../../../../src/store/records/file-uploads.js';
import { storedBytes } from '../../../../src/store/records/storage.js';
import { verifyStore } from '../../../../src/store/verify/verify-store.js';
import {
  createUpload,
  type IncomingBytes,
  type UploadDeps,
} from '../../../../src/usecases/uploads/file-uploads.js';
import { readFacts } from '../../../support/box/store-facts.js';
import type { House } from '../with-house.js';

/** Bytes as a client sends them, in pieces. */
export function incoming(bytes: Uint8Array, declaredBytes: number | null = bytes.length): IncomingBytes {
  return {
    declaredBytes,
    read: async sink => {
      for (let at = 0; at < bytes.length; at += 50_000) {
        if (!sink.write(bytes.slice(at, at + 50_000))) await sink.drained();
      }
    },
  };
}

export function uploadDeps({ store, uploads, clock }: House, storageMib = 2048): UploadDeps {
  return { store, uploads, clock, quota: { limits: { storageMib } } };
}

/** Uploads a file and gives its id. */
export async function upload(
  house: House,
  bytes: Uint8Array,
  accountId: AccountId = house.account,
): Promise<string> {
  return (await createUpload(uploadDeps(house), { accountId, file: incoming(bytes) })).upload_id;
}

/** Bytes that the account stores, and those of its uploads among them. */
export function usedBy({ store, account }: House): { readonly stored: number; readonly uploads: number } {
  return store.read(reader => ({
    stored: storedBytes(reader, account),
    uploads: uploadedBytes(reader, account),
  }));
}

export function faultsOf({ store }: House): readonly string[] {
  return [...verifyStore(store).faults, ...readFacts(store).faults];
}
