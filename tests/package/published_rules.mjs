// What the published schemas say of the keys that the manifests for winget and Scoop have here, and that no other key
// is there: the schemas of winget 1.10.0 (microsoft/winget-cli, schemas/JSON/manifests) and of Scoop (ScoopInstaller/Scoop,
// schema.json).
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { root } from '../../packaging/version.mjs';

const load = createRequire(join(root, 'tests/real/package.json'));
const Ajv = load('ajv');

const text = (maxLength, pattern = '^') => ({ type: 'string', minLength: 1, maxLength, pattern });
const list = (items, maxItems) => ({ type: 'array', items, minItems: 1, maxItems, uniqueItems: true });
const all = (properties) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});
const address = text(2048, '^https?://.');
const locale = text(20, '^[a-zA-Z]{2,3}(-[a-zA-Z]{1,8})*$');

const winget = (type, rest) =>
  all({
    // Two to eight parts, each without the characters that a path cannot have.
    PackageIdentifier: text(128, String.raw`^[^.\s\\/:*?"<>|]{1,32}(\.[^.\s\\/:*?"<>|]{1,32}){1,7}$`),
    PackageVersion: text(128, String.raw`^[^\\/:*?"<>|]+$`),
    ...rest,
    ManifestType: { const: type },
    ManifestVersion: { const: '1.10.0' },
  });

const schemas = {
  'mcp-sitter.mcp-sitter.yaml': winget('version', { DefaultLocale: locale }),
  'mcp-sitter.mcp-sitter.installer.yaml': winget('installer', {
    Platform: list({ enum: ['Windows.Desktop', 'Windows.Universal'] }, 2),
    MinimumOSVersion: text(23, String.raw`^\d{1,5}(\.\d{1,5}){0,3}$`),
    InstallerType: { const: 'zip' },
    NestedInstallerType: { const: 'portable' },
    NestedInstallerFiles: list(all({ RelativeFilePath: text(512), PortableCommandAlias: text(40) }), 1024),
    Commands: list(text(40), 16),
    Installers: list(
      all({
        Architecture: { enum: ['x86', 'x64', 'arm', 'arm64', 'neutral'] },
        InstallerUrl: address,
        InstallerSha256: text(64, '^[A-Fa-f0-9]{64}$'),
      }),
      1024,
    ),
  }),
  'mcp-sitter.mcp-sitter.locale.en-US.yaml': winget('defaultLocale', {
    PackageLocale: locale,
    Publisher: text(256, '^..'),
    PackageName: text(256, '^..'),
    PackageUrl: address,
    License: text(512, '^...'),
    LicenseUrl: address,
    ShortDescription: text(256, '^...'),
    Moniker: text(40),
    Tags: list(text(40), 16),
    ReleaseNotesUrl: address,
  }),
  'mcp-sitter.json': all({
    version: text(undefined, String.raw`^[\w.\-+]+$`),
    description: text(),
    homepage: address,
    license: text(),
    architecture: all({ '64bit': all({ url: address, hash: text(64, '^[a-fA-F0-9]{64}$'), extract_dir: text() }) }),
    bin: text(),
  }),
};

/** The files for which there are rules. */
export const ruled = Object.keys(schemas);

/** What is wrong with a parsed manifest, or an empty text. */
export function faultsIn(file, manifest) {
  const ajv = new Ajv({ strict: false, allErrors: true });
  return ajv.validate(schemas[file], manifest) ? '' : ajv.errorsText();
}
