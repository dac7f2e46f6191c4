import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/*
 * The recorded MIME cases are not part of the repository. They are a folder with the cases in `mime/` and
 * their runner `run-mime.mjs`, which POSTERN_CASES names, or which stands beside the repository.
 */

export interface MimeCaseResult {
  readonly id: string;
  readonly pass: boolean;
  readonly problems: readonly string[];
}

/** The folder of the cases, or null when there is none. */
export function casesFolder(): string | null {
  const folder = process.env.POSTERN_CASES ?? path.join(repositoryRoot(), '..', 'shared', 'cases');
  return existsSync(path.join(folder, 'run-mime.mjs')) ? folder : null;
}

/** Runs all cases against a parser module, as the runner's `--parser` takes it. */
export function runMimeCases(folder: string, parserFile: string): Promise<readonly MimeCaseResult[]> {
  const args = [
    path.join(folder, 'run-mime.mjs'),
    path.join(folder, 'mime'),
    '--parser',
    parserFile,
    '--json',
  ];
  return new Promise((resolve, reject) => {
    // The exit code is 1 when a case failed: what counts is the report.
    execFile(process.execPath, args, { maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      try {
        resolve((JSON.parse(stdout) as { results: MimeCaseResult[] }).results);
      } catch {
        reject(new Error(`the runner of the cases gave no report: ${stderr}`, { cause: error }));
      }
    });
  });
}

/** The folder of package.json, from the compiled file or from the source. */
function repositoryRoot(): string {
  let folder = path.dirname(fileURLToPath(import.meta.url));
  while (!existsSync(path.join(folder, 'package.json')) && path.dirname(folder) !== folder)
    folder = path.dirname(folder);
  return folder;
}
