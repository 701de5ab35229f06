// Where the packed packages are, and the server behind mcp-sitter in most of these tests.
import { join } from 'node:path';
import { root } from '../../packaging/version.mjs';

export const packed = join(root, 'build/package');
export const tinyServer = [process.execPath, join(root, 'tests/package/tiny_server.mjs')];
