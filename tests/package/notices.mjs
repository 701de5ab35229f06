// THIRD-PARTY-NOTICES.txt names the libraries that are in the program, and no others. The generator asks the build;
// these tests ask the symbols of the program.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

// The namespaces and functions of each library, and how its title in the notices may begin.
const libraries = [
  { title: /^boost/, has: /^boost(_asio_\w+)?::/ },
  { title: /^cli11/i, has: /^CLI::/ },
  { title: /^(fmt|fmtlib)\b/, has: /^fmt::/ },
  { title: /^gcc/, has: /^(__cxa_throw|_Unwind_Resume|std::)/ },
  { title: /^glibc/, has: /^(__libc_start_main|_dl_relocate_static_pie)/ },
  { title: /^mingw-w64/, has: /^mainCRTStartup$/ },
  { title: /^nlohmann/, has: /^nlohmann::/ },
  { title: /^openssl/, has: /^SSL_(read|connect|CTX_new)/ },
  { title: /^re2/, has: /^(re2|LogMessage)::/ },
  { title: /^schemas of the Model Context Protocol/, has: /^sitter::protocol_violation\(/ },
  { title: /^abseil/, has: /^absl::/ },
  { title: /^simdjson/, has: /^simdjson::/ },
  { title: /^spdlog/, has: /^spdlog::/ },
  { title: /^tomlplusplus/, has: /^toml::/ },
];
const ownNamespaces = /^(sitter|std|__gnu_cxx|__cxxabiv1|__gnu_internal)$/;

/** Tests the file of this name with the symbols of a program. */
export function testNotices({ notices, program }) {
  const text = readFileSync(notices, 'utf8');
  const titles = text.slice(0, text.indexOf('====')).match(/^- .*$/gm).map((line) => line.slice(2));
  const symbols = execFileSync('nm', ['--demangle', program], { encoding: 'utf8', maxBuffer: 2 ** 28 });
  const names = symbols.split('\n').map((line) => line.replace(/^[0-9a-f ]{16} \w /, ''));
  const isIn = ({ has }) => names.some((name) => has.test(name));

  for (const library of libraries) {
    test(`${library.title} is named if it is in the program, and only then`, () => {
      assert.equal(titles.some((title) => library.title.test(title)), isIn(library), titles.join('; '));
    });
  }

  test('no other library is named', () => {
    for (const title of titles) assert.ok(libraries.some((library) => library.title.test(title)), title);
  });

  test('no other library is in the program, as its namespaces show', () => {
    const namespaces = new Set(names.map((name) => name.match(/^([A-Za-z_]\w*)::/)?.[1]).filter(Boolean));
    const known = (name) => ownNamespaces.test(name) || libraries.some(({ has }) => has.test(`${name}::`));
    assert.deepEqual([...namespaces].filter((name) => !known(name)), []);
    assert.ok(namespaces.size > 8);
  });

  test('each library has its licence, and each licence that is referred to is there', () => {
    const chapters = text.split(/^={80}\n(.*)\n={80}\n/m).slice(1);
    const texts = new Map(chapters.flatMap((title, index) => (index % 2 ? [] : [[title, chapters[index + 1]]])));
    for (const title of titles) {
      assert.match(texts.get(title), /licen[cs]e|permission is hereby granted|redistribution and use/i, title);
      assert.ok(texts.get(title).length > 500, title);
    }
    for (const [, name] of text.matchAll(/common-licenses\/([A-Z\d]+-\d(?:\.\d)?)/gi)) {
      assert.ok(texts.has(name), name);
    }
    assert.match(texts.get(titles.find((title) => title.startsWith('gcc'))), /runtime library exception/i);
  });
}

/** Tests each program whose symbols lie in a folder of packages. */
export function testPackedNotices(packed) {
  const programs = readdirSync(packed).flatMap((file) => {
    const name = file.match(/(linux|win32)-\w+(?=\.debug$)/)?.[0];
    return name ? [{ name, notices: join(packed, 'npm', name, 'THIRD-PARTY-NOTICES.txt'), program: join(packed, file) }] : [];
  });
  test('there is a program to test', () => assert.ok(programs.length > 0));
  for (const each of programs) describe(each.name, () => testNotices(each));
}
