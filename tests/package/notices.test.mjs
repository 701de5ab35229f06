// The licences of the packed programs, or of the program in the build folder that NOTICES_OF names.
import { join } from 'node:path';
import { testNotices, testPackedNotices } from './notices.mjs';
import { packed } from './places.mjs';

const build = process.env.NOTICES_OF;
if (build) {
  testNotices({ notices: join(build, 'bin/THIRD-PARTY-NOTICES.txt'), program: join(build, 'bin/mcp-sitter') });
} else {
  testPackedNotices(packed);
}
