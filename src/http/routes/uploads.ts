import { UPLOAD_OPERATIONS } from '../../contract/uploads.js';
import { createUpload, deleteUpload, type UploadDeps } from '../../usecases/uploads/file-uploads.js';
import { json, type Route, routes } from '../server/route.js';

/** Files that are stored before they are attached. */
export function uploadRoutes(deps: UploadDeps): Route[] {
  return routes(UPLOAD_OPERATIONS, {
    createUpload: async ({ account, body }) =>
      json(201, await createUpload(deps, { accountId: account.id, file: body })),
    deleteUpload: async ({ account, params }) =>
      json(202, await deleteUpload(deps, { accountId: account.id, uploadId: params.upload_id })),
  });
}
