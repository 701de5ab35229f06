// Writes THIRD-PARTY-NOTICES.txt beside the program of a build folder: node packaging/notices.mjs build/release. The
// build knows which headers were compiled and which archives were linked, and each of these files has an owner whose
// licence is copied. A file without an owner, or an owner without a licence, is an error.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { commonLicences, partFor } from './debian_copyright.mjs';
import { sourceLicence } from './source_licence.mjs';
import { root } from './version.mjs';

const build = resolve(process.argv[2] ?? 'build/release');
const target = existsSync(join(build, 'bin/mcp-sitter.exe')) ? 'bin/mcp-sitter.exe' : 'bin/mcp-sitter';

function outputOf(command, words) {
  return execFileSync(command, words, { cwd: build, encoding: 'utf8', maxBuffer: 2 ** 28 });
}

const below = (folder, path) => !relative(folder, path).startsWith('..');

/** Every file that was included when the objects of the program were compiled. */
function includedFiles() {
  const objects = outputOf('ninja', ['-t', 'inputs', target]).split('\n').filter((name) => /\.(o|obj)$/.test(name));
  return outputOf('ninja', ['-t', 'deps', ...objects])
    .split('\n')
    .filter((line) => line.startsWith(' '))
    .map((line) => line.trim());
}

/** Every archive and start file that the linker was given. The compiler adds some to those of the command. */
function linkedFiles() {
  const steps = outputOf('ninja', ['-t', 'commands', '-s', target]).split(' && ');
  const command = steps.find((step) => step.includes(' -o '));
  const { status, stderr } = spawnSync('sh', ['-c', `${command} -###`], { cwd: build, encoding: 'utf8' });
  if (status !== 0) throw new Error(`the compiler does not say what it links: ${stderr.trim()}`);
  const linking = stderr.trim().split('\n').at(-1);
  const words = linking.match(/"[^"]*"|\S+/g).map((word) => word.replace(/^"|"$/g, ''));
  const folders = words.filter((word) => /^-L./.test(word)).map((word) => word.slice(2));
  const found = (name) => folders.map((folder) => join(folder, name)).find((path) => existsSync(resolve(build, path)));
  // A library without an archive stays outside the program.
  const libraries = words.filter((word) => /^-l./.test(word)).map((word) => found(`lib${word.slice(2)}.a`));
  const files = words.filter((word) => /\.(a|o)$/.test(word) && existsSync(resolve(build, word)));
  return [...files, ...libraries.filter(Boolean)];
}

/** Whether a file is ours, was made by this build from files that are asked for themselves, or belongs to macOS. */
function isOwn(path) {
  if (below(build, path)) return /^(include|src|_deps\/[^/]*-build)\//.test(relative(build, path));
  if (below(root, path)) return !below(join(root, 'build'), path);
  return /\/(MacOSX[^/]*\.sdk|Xcode[^/]*\.app|CommandLineTools)\//.test(path);
}

/** The package of the system that has a file. */
function packagesOf(paths) {
  const { stdout } = spawnSync('dpkg-query', ['-S', ...paths], { encoding: 'utf8', maxBuffer: 2 ** 28 });
  const rows = (stdout ?? '').split('\n').map((line) => line.match(/^([^ ,:]+)\S*: (.+)$/)).filter(Boolean);
  return new Map(rows.map(([, name, path]) => [path, name]));
}

function ofPackage(name, paths) {
  const fields = '${source:Package}\n${source:Version}\n${Version}\n';
  const [source, version, ownVersion] = outputOf('dpkg-query', ['-W', '-f', fields, name]).split('\n');
  const file = `/usr/share/doc/${name}/copyright`;
  if (!existsSync(file)) throw new Error(`no licence is found for the package ${name}: ${file} is missing`);
  // Debian makes the C library for another processor anew, from a package that holds all parts of a cross compiler.
  const title = source === 'cross-toolchain-base' ? `glibc ${ownVersion}` : `${source} ${version}`;
  return { title, text: partFor(readFileSync(file, 'utf8'), paths).trim() };
}

/** The libraries in the program by their titles, each with its licence. */
function libraries(paths) {
  const owners = packagesOf(paths);
  const ofPackages = new Map();
  const found = new Map();
  for (const path of paths) {
    const owner = owners.get(path);
    if (owner) {
      ofPackages.set(owner, [...(ofPackages.get(owner) ?? []), path]);
    } else {
      const { title, text } = sourceLicence(path, root);
      found.set(title, text);
    }
  }
  for (const [owner, own] of ofPackages) {
    // Headers of the kernel hold only the numbers by which a program calls it; its licence names that as no part of it.
    if (owner.startsWith('linux-libc-dev')) continue;
    const { title, text } = ofPackage(owner, own);
    found.set(title, text);
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

const paths = [...includedFiles(), ...linkedFiles()].map((path) => realpathSync(resolve(build, path)));
const others = [...new Set(paths)].filter((path) => !isOwn(path)).sort();
const found = libraries(others);
const schemas = join(root, 'src/core/schema/published/LICENSE');
found.set('schemas of the Model Context Protocol', readFileSync(schemas, 'utf8').trim());
const common = commonLicences([...found.values()].join('\n'));
const line = '='.repeat(80);
const chapter = ([title, text]) => `${line}\n${title}\n${line}\n\n${text}\n`;
const text = [
  'The program mcp-sitter contains code of these libraries:\n\n',
  ...[...found.keys()].map((title) => `- ${title}\n`),
  '\nTheir licences follow, and then the licences to which these refer.\n\n',
  [...found, ...common].map(chapter).join('\n'),
].join('');
writeFileSync(join(build, dirname(target), 'THIRD-PARTY-NOTICES.txt'), text);
