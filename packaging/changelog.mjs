// What CHANGELOG.md says of a version. "node packaging/changelog.mjs VERSION" prints its notes.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMain, root } from './version.mjs';

/** The section of a version: what stands in brackets in its heading, its date if that is one, and its notes. */
export function changesOf(version) {
  const [, ...sections] = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').split(/^## /m);
  for (const section of sections) {
    const [heading, ...lines] = section.split('\n');
    const [, name, remark] = heading.match(/^(\S+) \((.*)\)$/) ?? [];
    if (name !== version) continue;
    return { remark, date: remark.match(/^\d{4}-\d\d-\d\d$/)?.[0], notes: `${lines.join('\n').trim()}\n` };
  }
  return undefined;
}

if (isMain(import.meta.url)) {
  const [, , version] = process.argv;
  const changes = changesOf(version);
  if (changes) {
    process.stdout.write(changes.notes);
  } else {
    console.error(`changelog: CHANGELOG.md has no section "## ${version} (date)"`);
    process.exitCode = 1;
  }
}
