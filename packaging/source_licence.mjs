// The licence of a library that comes as source and not as a package of Debian, found from one of its files.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';

/** The folder in which Homebrew has a version of a library: .../Cellar/NAME/VERSION. */
function kegOf(path) {
  return path.match(/^.*\/Cellar\/[^/]+\/[^/]+(?=\/)/)?.[0];
}

function licenceFilesIn(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && /^(licen[cs]e|copying|notice)/i.test(entry.name))
    .map(({ name }) => join(folder, name))
    .sort();
}

/** The nearest folder below `top` with a licence, from the file on, and the files of the licence. */
function nearestLicence(path, top) {
  for (let folder = dirname(path); folder !== top && folder !== dirname(folder); folder = dirname(folder)) {
    const files = licenceFilesIn(folder);
    if (files.length) return { folder, files };
  }
  return undefined;
}

/**
 * The title of the library and the text of its licence. `project` is the folder of this project, above its libraries.
 * `further` has licences that Homebrew does not install, as NAME.txt.
 */
export function sourceLicence(path, project, further) {
  const keg = kegOf(path);
  const found = nearestLicence(path, keg ? dirname(keg) : project);
  const name = keg && basename(dirname(keg));
  const file = join(further, `${name}.txt`);
  if (!found && !existsSync(file)) {
    throw new Error(`no licence is found for ${path}: no package has this file, and no folder above it a licence`);
  }
  const title = keg ? relative(dirname(dirname(keg)), keg).replace('/', ' ') : basename(found.folder).replace(/-src$/, '');
  const files = found ? found.files : [file];
  return { title, text: files.map((each) => readFileSync(each, 'utf8').trim()).join('\n\n') };
}
