// Publishes the packed packages of a folder: node packaging/publish.mjs FOLDER. The package that people install comes
// last, so that everything it asks for is there. A package that is published with the same content is left alone, so
// this can be run again after half of it failed; with other content, nothing is published.
import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isMain } from './version.mjs';

/** The error that npm has printed as JSON, if any. */
function npmError(text) {
  try {
    return JSON.parse(text).error;
  } catch {
    return undefined;
  }
}

/** The checksum of a published version, or undefined if the registry does not have this version. */
export async function publishedIntegrity(name, version) {
  const words = ['view', `${name}@${version}`, 'dist.integrity', '--json'];
  const { failure, stdout } = await new Promise((done) => {
    execFile('npm', words, (failure, stdout) => done({ failure, stdout }));
  });
  if (!failure) return stdout.trim() === '' ? undefined : JSON.parse(stdout);
  const error = npmError(stdout);
  if (error?.code === 'E404') return undefined;
  const reason = error?.summary ?? failure.message;
  throw new Error(`the registry does not say whether ${name}@${version} is published: ${reason}`);
}

function packedIn(folder) {
  const packages = readdirSync(folder)
    .filter((file) => file.endsWith('.tgz'))
    .map((file) => {
      const path = join(folder, file);
      const manifest = JSON.parse(execFileSync('tar', ['-xzOf', path, 'package/package.json']));
      const integrity = `sha512-${createHash('sha512').update(readFileSync(path)).digest('base64')}`;
      return { path, ...manifest, integrity };
    });
  const umbrella = packages.find(({ name }) => name === 'mcp-sitter-native');
  const platforms = packages.filter((each) => each !== umbrella);
  const named = Object.entries(umbrella?.optionalDependencies ?? {}).map((pair) => pair.join('@'));
  const found = platforms.map(({ name, version }) => `${name}@${version}`);
  if (found.length === 0 || named.sort().join() !== found.sort().join()) {
    const wanted = named.join(', ') || 'mcp-sitter-native and packages of platforms';
    throw new Error(`${folder} has ${found.join(', ') || 'none'}, but needs ${wanted}; run ./dev package`);
  }
  return [...platforms, umbrella];
}

async function publish(folder) {
  const asked = packedIn(folder).map(async (each) => {
    return { ...each, published: await publishedIntegrity(each.name, each.version) };
  });
  const packages = await Promise.all(asked);
  const changed = packages.filter(({ integrity, published }) => published !== undefined && published !== integrity);
  if (changed.length > 0) {
    const names = changed.map(({ name, version }) => `${name}@${version}`).join(', ');
    throw new Error(
      `${names}: published already, with other content. Run only the failed jobs again, or release another version.`,
    );
  }
  for (const { path, name, version, published } of packages) {
    if (published === undefined) {
      execFileSync('npm', ['publish', path, '--access', 'public'], { stdio: 'inherit' });
      console.log(`${name}@${version}: published`);
    } else {
      console.log(`${name}@${version}: published already, with this content`);
    }
  }
}

if (isMain(import.meta.url)) {
  const [folder, ...more] = process.argv.slice(2);
  try {
    if (folder === undefined || more.length > 0) throw new Error('say one folder with packed packages');
    await publish(resolve(folder));
  } catch (error) {
    console.error(`publish: ${error.message}`);
    process.exitCode = 1;
  }
}
