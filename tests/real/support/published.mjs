// The published schemas of the protocol, and what the program keeps of two of them.
// As a program, writes that into the sources: node support/published.mjs --write
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { testsDir } from './programs.mjs';

/** The schemas are published in no package of their own, but the program of the conformance suite contains them. */
export function publishedSchemas() {
  const path = join(testsDir, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
  const code = readFileSync(path, 'utf8');
  const [, literals, table] = code.match(
    /(\w+=\{\$schema:[^]*);const \w+=\{("2025-03-26":[^}]*)\}/,
  );
  const names = [...table.matchAll(/:(\w+)/g)].map(([, name]) => name);
  const later = Function(`const ${literals}; return [${names}];`)();
  const all = [withoutAdditions(later[0]), ...later];
  const dates = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'];
  if (all.length !== dates.length) throw new Error(`${path} has ${later.length} schemas`);
  return Object.fromEntries(all.map((schema, index) => [dates[index], schema]));
}

/** The first revision, from the second, which only added to it. */
function withoutAdditions(second) {
  const first = structuredClone(second);
  const { ServerCapabilities, Tool, ProgressNotification } = first.definitions;
  delete ServerCapabilities.properties.completions;
  delete Tool.properties.annotations;
  delete ProgressNotification.properties.params.properties.message;
  first.definitions.AudioContent = false;
  return first;
}

/** Official clients measure each session by the newest revision that has sessions. */
export const keptRevisions = ['2025-11-25', '2026-07-28'];

export function keptPath(revision) {
  return join(testsDir, '../../src/core/schema/published', `${revision}.json`);
}

/** What a server sends, but for its requests. */
const roots = [
  ...['InitializeResult', 'DiscoverResult', 'CallToolResult', 'GetPromptResult', 'ReadResourceResult'],
  ...['ListToolsResult', 'ListPromptsResult', 'ListResourcesResult', 'ListResourceTemplatesResult'],
  ...['CompleteResult', 'ProgressNotification', 'LoggingMessageNotification', 'CancelledNotification'],
  ...['ResourceUpdatedNotification', 'ToolListChangedNotification'],
  ...['PromptListChangedNotification', 'ResourceListChangedNotification'],
];

/** The part of a published schema that the program keeps, as the text of its file. */
export function keptText(schema, revision) {
  const all = structuredClone(schema.$defs);
  takeAsClientsDo(all, revision);
  const kept = new Map();
  const keep = (name) => {
    if (kept.has(name) || !all[name]) return;
    kept.set(name, '');
    kept.set(name, JSON.stringify(reduced(all[name], keep)));
  };
  roots.forEach(keep);
  const lines = [...kept].sort().map(([name, text]) => `    "${name}": ${text}`);
  return `{\n  "$defs": {\n${lines.join(',\n')}\n  }\n}\n`;
}

/** Without what says nothing about a value. */
function reduced(schema, keep) {
  if (Array.isArray(schema)) return schema.map((part) => reduced(part, keep));
  if (schema === null || typeof schema !== 'object') return schema;
  if (schema.$ref) keep(schema.$ref.split('/').at(-1));
  if (isAnyObject(schema)) return { type: ['object', 'array'] };
  const keptFormats = ['byte', 'iso-date-time'];
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key, value]) => typeof value !== 'string' || !['description', '$comment'].includes(key))
      .filter(([key, value]) => key !== 'format' || keptFormats.includes(value))
      .map(([key, value]) => [key, reduced(value, keep)]),
  );
}

/** The clients take any array for an object of which nothing is said. */
function isAnyObject({ type, properties, additionalProperties, ...more }) {
  const says = Object.keys(more).filter((key) => key !== 'description');
  return type === 'object' && JSON.stringify(properties) === '{}' && additionalProperties === true && !says.length;
}

/** Where the official TypeScript clients take more than the schema, or less, theirs counts. */
function takeAsClientsDo(all, revision) {
  delete all.PromptArgument.properties.title;
  for (const part of [all.Resource, all.ResourceLink]) part.properties.size.type = 'number';
  all.Annotations.properties.lastModified.format = 'iso-date-time';
  if (revision === '2025-11-25') {
    for (const key of ['inputSchema', 'outputSchema']) delete all.Tool.properties[key].properties.$schema;
    all.CallToolResult.required = [];
    const capabilities = all.ServerCapabilities.properties;
    capabilities.extensions = capabilities.experimental;
    all.CompleteResult.properties.completion.properties.values.maxItems = 100;
    return;
  }
  for (const part of Object.values(all)) {
    if (part.required) part.required = part.required.filter((key) => key !== 'resultType');
  }
  all.JSONObject = { type: 'object' };
  all.ResultMetaObject = { type: 'object' };
  const { DiscoverResult } = all;
  DiscoverResult.properties = { ...DiscoverResult.properties, ttlMs: {}, cacheScope: {} };
  DiscoverResult.required = ['supportedVersions', 'capabilities'];
}

if (import.meta.url === pathToFileURL(process.argv[1]).href && process.argv[2] === '--write') {
  const schemas = publishedSchemas();
  for (const revision of keptRevisions) writeFileSync(keptPath(revision), keptText(schemas[revision], revision));
}
