// The files in which Debian's packages state their copyright.
import { readFileSync, realpathSync } from 'node:fs';
import { basename } from 'node:path';

const folder = '/usr/share/common-licenses/';

/** The licences that packages refer to instead of repeating them: pairs of a title and a text. */
export function commonLicences(text) {
  const names = [...text.matchAll(/\/usr\/share\/common-licenses\/([\w.+-]*\w)/g)].map(([, name]) => name);
  // GPL and LGPL are links to the newest of them.
  const files = new Set(names.map((name) => realpathSync(folder + name)));
  return [...files].sort().map((file) => [basename(file), readFileSync(file, 'utf8').trim()]);
}

const stanzasOf = (text) => text.trim().split(/\n\s*\n/);

function field(stanza, name) {
  const [, value = ''] = stanza.match(new RegExp(`^${name}:((?:.*)(?:\n[ \t].*)*)`, 'm')) ?? [];
  return value.trim();
}

/**
 * The part of a copyright file that is about these headers. Only Boost's file is cut: it has 2 MB, with a stanza for
 * each author of each of its 150 libraries.
 */
export function partFor(text, headers) {
  if (!/^Upstream-Name: Boost$/m.test(text)) return text;
  const names = headers.map((path) => path.slice(path.indexOf('boost/')));
  // boost/asio/x.hpp is libs/asio/include/boost/asio/x.hpp in the source.
  const libraries = new Set(names.map((name) => name.split('/')[1].replace(/\.hpp$/, '')));
  const used = new Set(names);
  const covers = (pattern) =>
    pattern === '*' ||
    used.has(pattern.slice(pattern.indexOf('/include/') + '/include/'.length)) ||
    (/^libs\/\w+\/\*$/.test(pattern) && libraries.has(pattern.split('/')[1]));
  const [head, ...stanzas] = stanzasOf(text);
  const licence = (stanza) => field(stanza, 'License').split('\n')[0];
  const files = stanzas.filter((stanza) => field(stanza, 'Files').split(/\s+/).some(covers));
  const wanted = new Set(files.flatMap((stanza) => licence(stanza).split(/ (?:and|or) /)));
  const licences = stanzas.filter((stanza) => !field(stanza, 'Files') && wanted.has(licence(stanza)));
  const statements = files.map(
    (stanza) => `Copyright: ${field(stanza, 'Copyright')}\nLicense: ${field(stanza, 'License')}`,
  );
  return [head.split('\nFiles-Excluded')[0], ...new Set(statements), ...licences].join('\n\n');
}
