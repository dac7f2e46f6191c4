import type { ConfigProblem } from './config-problem.js';
import { KEY_LIST, SECTIONS } from './key-list.js';
import { nearestName } from './nearest-name.js';
import type { ConfigFile } from './read-config-file.js';
import type { Setting, Settings } from './setting.js';

const KEY_IDS = KEY_LIST.map(key => key.id);
const SECTION_IDS = SECTIONS.map(section => section.id);
const SEE_ALL = '"postern config explain" lists all keys.';

type Table = Readonly<Record<string, unknown>>;

/** What a configuration file sets, and what it sets that nobody knows. */
export function fileSettings(file: ConfigFile): { settings: Settings; problems: ConfigProblem[] } {
  const settings = new Map<string, Setting>();
  const problems: ConfigProblem[] = [];
  walk(file.table, '');
  return { settings, problems };

  function walk(table: Table, outer: string): void {
    for (const [name, value] of Object.entries(table)) {
      const id = outer === '' ? name : `${outer}.${name}`;
      const where = `${file.path}: ${id}`;
      if (SECTION_IDS.includes(id)) {
        if (isTable(value)) {
          walk(value, id);
        } else {
          problems.push({
            where,
            what: 'is a section, not a key',
            fix: `Write [${id}] and its keys below it.`,
          });
        }
      } else if (KEY_IDS.includes(id)) {
        const source = { kind: 'file', file: file.path } as const;
        settings.set(id, { source, where, raw: value, written: value, folder: file.folder });
      } else {
        problems.push({ where, ...unknown(id, isTable(value)) });
      }
    }
  }
}

function unknown(id: string, isSection: boolean): { what: string; fix: string } {
  return isSection
    ? { what: 'is not a known section', fix: `Did you mean [${nearestName(id, SECTION_IDS)}]? ${SEE_ALL}` }
    : { what: 'is not a known key', fix: `Did you mean ${nearestKey(id)}? ${SEE_ALL}` };
}

/** A key of the same name in another section is nearer than any other spelling. */
function nearestKey(id: string): string {
  const name = id.slice(id.lastIndexOf('.') + 1);
  const sameName = KEY_LIST.filter(key => key.name === name).map(key => key.id);
  return nearestName(id, sameName.length > 0 ? sameName : KEY_IDS);
}

function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}
