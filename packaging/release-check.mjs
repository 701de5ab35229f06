// Says what is missing for a release of this version: node packaging/release-check.mjs [--tag TAG]. With a tag, the tag
// must be the one of this version; without one, it must not exist yet. The exit code is 1 if anything is missing.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { changesOf } from './changelog.mjs';
import { publishedIntegrity } from './publish.mjs';
import { projectVersion, root } from './version.mjs';
import { projectFaults } from './workflows.mjs';

/** Ends a check: this is what somebody has to do. */
function missing(sentence) {
  throw new Error(sentence);
}

const path = (name) => join(root, name);
const git = (...words) => execFileSync('git', words, { cwd: root, encoding: 'utf8' }).trim();
const read = (name) => (existsSync(path(name)) ? readFileSync(path(name), 'utf8') : missing(`${name} is not there`));
const readJson = (name) => JSON.parse(read(name));
const packed = () => (existsSync(path('build/package')) ? readdirSync(path('build/package')) : []);
const umbrella = 'mcp-sitter-native';
const umbrellaManifest = `npm/${umbrella}/package.json`;

function changelog(version) {
  const { remark, date, notes, isFirst } = changesOf(version) ?? missing(`add a section "## ${version} (date)" to CHANGELOG.md`);
  if (date === undefined) {
    missing(`CHANGELOG.md has "## ${version} (${remark})": write the date of the release there, as YYYY-MM-DD`);
  }
  if (!isFirst) missing(`put the section of ${version} before the others in CHANGELOG.md`);
  const text = notes.replaceAll(/<!--.*?-->/gs, '').replaceAll(/^#.*/gm, '');
  if (text.trim() === '') missing(`write what is new into the section of ${version} in CHANGELOG.md`);
  return `${version} is of ${date}`;
}

function tagOf(version, tag) {
  const own = `v${version}`;
  if (tag !== undefined && tag !== own) {
    missing(`the tag is ${tag}, but CMakeLists.txt has ${version}: tag the commit that has this version`);
  }
  if (tag === undefined && git('tag', '--list', own) !== '') {
    missing(`the tag ${own} exists: raise the version in CMakeLists.txt`);
  }
  return tag === undefined ? `${own} does not exist yet` : `${own} is the tag of this version`;
}

function workingTree() {
  const changed = git('status', '--porcelain').split('\n').filter(Boolean);
  const names = changed.map((line) => line.trim().replace(/^\S+ +/, ''));
  if (names.length > 0) missing(`commit or remove what is changed: ${names.join(', ')}`);
  return 'nothing is changed';
}

function platforms(version) {
  const all = readJson('npm/platforms.json');
  const names = Object.keys(all);
  const hasProgram = (name) => all[name].runner || packed().includes(`mcp-sitter-${name}-${version}.tgz`);
  const left = names.filter((name) => !hasProgram(name));
  if (left.length > 0) {
    missing(`nothing builds ${left.join(', ')}: add a runner to npm/platforms.json, or pack a binary`);
  }
  return names.join(', ');
}

function packages() {
  for (const [file, name] of [
    [umbrellaManifest, umbrella],
    ['npm/platform/package.json', '@mcp-sitter/PLATFORM'],
  ]) {
    const manifest = readJson(file);
    if (manifest.name !== name) missing(`${file} must have the name ${name}, and has ${manifest.name}`);
    if (manifest.publishConfig?.access !== 'public') missing(`${file} needs "publishConfig": { "access": "public" }`);
  }
  return `${umbrella}, and one of @mcp-sitter for each platform`;
}

function repository() {
  const address = readJson(umbrellaManifest).repository.url.replace(/^git\+|\.git$/g, '');
  const files = git('ls-files', '--', 'npm', 'packaging', 'docs', '*.md').split('\n');
  const others = files.filter((name) => {
    const named = readFileSync(path(name), 'utf8').match(/https:\/\/github\.com\/[\w.-]+\/mcp-sitter\b/g) ?? [];
    return named.some((each) => each !== address);
  });
  if (others.length > 0) missing(`${others.join(', ')}: write ${address} there, as in ${umbrellaManifest}`);
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name } = process.env;
  // The registry takes a package only from the repository that the package names.
  if (name !== undefined && `${server}/${name}` !== address) {
    missing(`this is ${server}/${name}, and ${umbrellaManifest} names ${address}`);
  }
  return address;
}

function documents() {
  const names = ['README.md', 'SECURITY.md', 'CONTRIBUTING.md', 'LICENSE'];
  names.forEach(read);
  return names.join(', ');
}

function notices() {
  read('packaging/notices.mjs');
  // The names in a .zip are not compressed.
  const namesIn = (name) =>
    name.endsWith('.zip')
      ? readFileSync(path(`build/package/${name}`), 'latin1')
      : execFileSync('tar', ['-tzf', path(`build/package/${name}`)], { encoding: 'utf8' });
  for (const name of packed().filter((each) => /\.(tar\.gz|zip)$/.test(each))) {
    if (!namesIn(name).includes('/THIRD-PARTY-NOTICES.txt')) {
      missing(`build/package/${name} has no THIRD-PARTY-NOTICES.txt: pack it again`);
    }
  }
  return 'made with each program';
}

async function workflows() {
  const faults = await projectFaults();
  if (faults.length > 0) missing(faults.join('; '));
  return 'no fault';
}

async function registry(version) {
  const names = [umbrella, ...Object.keys(readJson('npm/platforms.json')).map((platform) => `@mcp-sitter/${platform}`)];
  const sums = await Promise.all(names.map((name) => publishedIntegrity(name, version)));
  const published = names.filter((_, index) => sums[index] !== undefined);
  if (published.includes(umbrella)) {
    missing(`${umbrella}@${version} is published: raise the version in CMakeLists.txt`);
  }
  if (published.length > 0) {
    missing(
      `${published.join(', ')} of version ${version} is published, but not ${umbrella}: run only the failed jobs of ` +
        'that release again, or raise the version in CMakeLists.txt',
    );
  }
  return `nothing of version ${version} is published yet`;
}

const checks = {
  changelog,
  tag: tagOf,
  'working tree': workingTree,
  platforms,
  packages,
  repository,
  documents,
  'third-party notices': notices,
  workflows,
  registry,
};

async function checkAll(tag) {
  const version = projectVersion();
  console.log(`version ${version}`);
  for (const [name, check] of Object.entries(checks)) {
    try {
      console.log(`ok       ${name}: ${await check(version, tag)}`);
    } catch (error) {
      // Whatever keeps a check from its answer is missing too.
      console.log(`missing  ${name}: ${error.message}`);
      process.exitCode = 1;
    }
  }
}

const [option, tag, ...more] = process.argv.slice(2);
if (more.length > 0 || (option !== undefined && (option !== '--tag' || !tag))) {
  console.error('release-check: say nothing more than --tag TAG');
  process.exitCode = 2;
} else {
  await checkAll(tag);
}
