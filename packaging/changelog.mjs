// What CHANGELOG.md says of a version. "node packaging/changelog.mjs VERSION" prints its notes.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMain, root } from './version.mjs';

function isDate(text) {
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/**
 * The section of a version: what stands in brackets in its heading, its date if that is one, its notes, and whether it is
 * the first section.
 */
export function changesOf(version) {
  const [, ...sections] = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').split(/^## /m);
  for (const [index, section] of sections.entries()) {
    const [heading, ...lines] = section.split('\n');
    const [, name, remark] = heading.trimEnd().match(/^(\S+) \((.*)\)$/) ?? [];
    if (name !== version) continue;
    const date = isDate(remark) ? remark : undefined;
    return { remark, date, notes: `${lines.join('\n').trim()}\n`, isFirst: index === 0 };
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
