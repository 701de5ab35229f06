// Fills what packaging/templates has for Homebrew, Arch Linux, winget and Scoop. It is about the archives of a folder, whose
// sums are in SHA256SUMS there, and goes into the folder: node packaging/templates.mjs FOLDER.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { projectVersion, root } from './version.mjs';

const [given, ...more] = process.argv.slice(2);
if (given === undefined || more.length > 0) {
  console.error('templates: say one folder with packed archives');
  process.exit(2);
}
const folder = resolve(given);
const version = projectVersion();
const templates = join(root, 'packaging/templates');
const sums = Object.fromEntries(
  readFileSync(join(folder, 'SHA256SUMS'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(/\s+/).reverse()),
);

function sumFor(platform) {
  const archive = `mcp-sitter-${version}-${platform}.${platform.startsWith('win32') ? 'zip' : 'tar.gz'}`;
  if (sums[archive] === undefined) {
    console.error(`templates: ${folder}/SHA256SUMS has no ${archive}; pack the programs of all platforms`);
    process.exit(1);
  }
  return sums[archive];
}

for (const name of readdirSync(templates)) {
  const text = readFileSync(join(templates, name), 'utf8')
    .replaceAll('@RELEASE@', `https://github.com/mcp-sitter/mcp-sitter/releases/download/v${version}`)
    .replaceAll('@VERSION@', version)
    .replaceAll(/@SHA256 (\S+)@/g, (_, platform) => sumFor(platform));
  writeFileSync(join(folder, name), text);
}
