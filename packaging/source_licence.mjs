// The licence of a library that comes as source and not as a package of Debian, found from one of its files.
import { readFileSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

function licenceFilesIn(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && /^(licen[cs]e|copying|notice)/i.test(entry.name))
    .map(({ name }) => join(folder, name))
    .sort();
}

/** The nearest folder below `top` with a licence, from the file on, and the files of the licence. */
function nearestLicence(path, top) {
  for (let folder = dirname(path); folder.startsWith(`${top}/`); folder = dirname(folder)) {
    const files = licenceFilesIn(folder);
    if (files.length) return { folder, files };
  }
  return undefined;
}

/**
 * The title of the library and the text of its licence. `project` is the folder of this project, above its libraries.
 */
export function sourceLicence(path, project) {
  const found = nearestLicence(path, project);
  if (!found) {
    throw new Error(`no licence is found for ${path}: no package has it, and no folder above it in ${project} a licence`);
  }
  const text = found.files.map((each) => readFileSync(each, 'utf8').trim()).join('\n\n');
  return { title: basename(found.folder).replace(/-src$/, ''), text };
}
