// The protections that make a fault in the program hard to exploit, as the shipped file shows them.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import * as elf from './elf.mjs';
import { packed, tinyServer } from './places.mjs';
import { Session } from './session.mjs';

const one = (pattern) => {
  const found = readdirSync(packed).filter((name) => pattern.test(name));
  assert.equal(found.length, 1, `${pattern}: ${found}`);
  return join(packed, found[0]);
};

const root = mkdtempSync(join(tmpdir(), 'sitter-hardening-'));
after(() => rmSync(root, { recursive: true, force: true }));
execFileSync('tar', ['-xzf', one(/^mcp-sitter-linux-x64-.*\.tgz$/), '-C', root]);
const file = join(root, 'package/bin/mcp-sitter');
const program = new elf.Elf(file);

describe('the program', () => {
  test('is a static PIE', () => {
    assert.equal(program.type, elf.ET_DYN);
    assert.ok(program.dynamic(elf.DT_FLAGS_1) & elf.DF_1_PIE);
    assert.equal(program.segment(elf.PT_INTERP), undefined);
  });

  test('makes what is relocated read-only, all of it at the start', () => {
    assert.ok(program.dynamic(elf.DT_FLAGS_1) & elf.DF_1_NOW);
    const { address, size } = program.segment(elf.PT_GNU_RELRO);
    const tables = program.sections.filter(({ name }) => /^\.(got|data\.rel\.ro|init_array)/.test(name));
    assert.ok(tables.length >= 3);
    for (const table of tables) {
      assert.ok(table.address >= address && table.address + table.size <= address + size, table.name);
    }
  });

  test('leaves the tables of OpenSSL alone in a session without TLS', async (t) => {
    const { address, size } = program.section('.data.rel.ro.tls');
    assert.ok(size > 256 * 1024, size);
    const { child } = await Session.open(t, [file, '--', ...tinyServer]);
    const maps = readFileSync(`/proc/${child.pid}/maps`, 'latin1').split('\n');
    const [start] = maps.find((line) => line.endsWith(file)).split('-');
    const memory = openSync(`/proc/${child.pid}/mem`);
    t.after(() => closeSync(memory));
    const tables = Buffer.alloc(size);
    assert.equal(readSync(memory, tables, 0, size, BigInt(`0x${start}`) + BigInt(address)), size);
    assert.ok(tables.equals(program.contents('.data.rel.ro.tls')));
  });

  test('has no memory that can be both written and executed, the stack least of all', () => {
    assert.equal(program.segment(elf.PT_GNU_STACK).flags & elf.PF_X, 0);
    for (const { flags } of program.segments) assert.notEqual(flags & elf.PF_WX, elf.PF_WX);
  });

  test('is stripped, and its symbols lie beside the packages', () => {
    assert.equal(program.section('.symtab'), undefined);
    const symbols = new elf.Elf(one(/^mcp-sitter-.*-linux-x64\.debug$/));
    assert.deepEqual(symbols.contents('.note.gnu.build-id'), program.contents('.note.gnu.build-id'));
    assert.ok(ours(symbols).length > 500);
  });

  test('checks its stack in the functions that have arrays or hand out addresses', () => {
    const functions = ours(new elf.Elf(one(/^mcp-sitter-.*-linux-x64\.debug$/)));
    const guarded = functions.filter((its) => readsCanary(program.code(its)));
    assert.ok(guarded.length > functions.length / 4, `${guarded.length} of ${functions.length}`);
  });

  test('calls the library functions that know how large a buffer is', () => {
    const names = new elf.Elf(one(/^mcp-sitter-.*-linux-x64\.debug$/)).functions().map(({ name }) => name);
    assert.ok(names.includes('__memcpy_chk'), names.filter((name) => name.endsWith('_chk')).join(' '));
  });
});

const ours = (symbols) => symbols.functions().filter(({ name }) => /^_ZN?K?6sitter/.test(name));

// A 64-bit instruction whose operand is %fs:0x28, where glibc keeps the canary.
const readsCanary = (code) => /\x64[\x48\x4c][^][^]\x25\x28\x00\x00\x00/.test(code.toString('latin1'));
