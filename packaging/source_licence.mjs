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

/** The nearest folder with a licence from the file up to `top`, which is looked at only if it belongs to the library. */
function nearestFiles(path, top, isOfLibrary) {
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
    if (folder === top && !isOfLibrary) return undefined;
    const files = licenceFilesIn(folder);
    if (files.length) return { folder, files };
    if (folder === top) return undefined;
  }
  return undefined;
}

/**
 * The title of the library and the text of its licence. `project` is the folder of this project, above its libraries.
 * `further` has licences that Homebrew does not install, as NAME.txt.
 */
export function sourceLicence(path, project, further) {
  const keg = kegOf(path);
  const found = nearestFiles(path, keg ?? project, keg !== undefined);
  const name = keg && basename(dirname(keg));
  const file = join(further, `${name}.txt`);
  if (!found && !existsSync(file)) {
    throw new Error(`no licence is found for ${path}: no package has this file, and no folder above it a licence`);
  }
  const title = keg ? relative(dirname(dirname(keg)), keg).replace('/', ' ') : basename(found.folder).replace(/-src$/, '');
  const files = found ? found.files : [file];
  return { title, text: files.map((each) => readFileSync(each, 'utf8').trim()).join('\n\n') };
}
