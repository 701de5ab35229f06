// Messages of a server that are right, and ways to make them wrong in one place.

const icons = [{ src: 'https://e.org/i.png', mimeType: 'image/png', sizes: ['48x48'], theme: 'dark' }];
const _meta = { a: 1 };
const annotations = { audience: ['user'], priority: 0.5, lastModified: '2025-01-12T15:00:58Z' };
const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
const resource = {
  ...{ uri: 'file:///a', name: 'r', title: 'R', description: 'd', mimeType: 'text/plain', size: 3 },
  ...{ annotations, icons, _meta },
};
const text = { type: 'text', text: 'x', annotations, _meta };
const file = { uri: 'file:///b', mimeType: 'text/plain', _meta };
const blocks = [
  text,
  { type: 'image', data: 'aGk=', mimeType: 'image/png', annotations, _meta },
  { type: 'audio', data: 'aGk=', mimeType: 'audio/wav', annotations, _meta },
  { type: 'resource_link', ...resource },
  { type: 'resource', resource: { ...file, text: 'x' }, annotations, _meta },
  { type: 'resource', resource: { ...file, blob: 'aGk=' } },
];

export const right = {
  opening: {
    protocolVersion: '2025-11-25',
    serverInfo: { name: 'n', version: '1', title: 't', description: 'd', websiteUrl: 'https://e.org', icons },
    capabilities: {
      ...{ experimental: { a: {} }, extensions: { a: {} }, logging: {}, completions: {}, prompts: { listChanged: true } },
      ...{ resources: { subscribe: true, listChanged: true }, tools: { listChanged: true } },
      tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
    },
    instructions: 'i',
    _meta,
  },
  tool: {
    ...{ name: 't', title: 'T', description: 'd', icons, inputSchema: schema, outputSchema: schema, _meta },
    annotations: {
      ...{ title: 'x', readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    },
    execution: { taskSupport: 'optional' },
  },
  prompt: {
    ...{ name: 'p', title: 'P', description: 'd', icons, _meta },
    arguments: [{ name: 'a', title: 'A', description: 'd', required: true }],
  },
  resource,
  template: {
    ...{ uriTemplate: 'file:///{a}', name: 'r', title: 'R', description: 'd', mimeType: 'text/plain' },
    ...{ annotations, icons, _meta },
  },
  result: { content: blocks, structuredContent: { a: 'x' }, isError: false },
};

const others = [undefined, null, 42, 1.5, 'x', '', true, {}, [], [42], [{}], [null], { k: 's' }, { k: null }];

function* waysTo(value, way = []) {
  if (way.length > 0) yield way;
  if (value === null || typeof value !== 'object') return;
  for (const key of Object.keys(value)) yield* waysTo(value[key], [...way, key]);
}

/** Copies of a value with another value, or none, in one place. Yields [what was done, copy]. */
export function* mutations(value) {
  for (const way of waysTo(value)) {
    for (const other of others) {
      const copy = JSON.parse(JSON.stringify(value));
      const last = way.at(-1);
      const holder = way.slice(0, -1).reduce((part, key) => part[key], copy);
      if (other !== undefined) holder[last] = other;
      else if (Array.isArray(holder)) continue;
      else delete holder[last];
      yield [`${way.join('.')} = ${JSON.stringify(other)}`, copy];
    }
  }
}

const outputs = (...parts) => parts.map((part) => ({ type: 'object', ...part }));
const property = (part) => ({ properties: { a: part } });

/** Output schemas, right and wrong, of which Ajv takes some. */
export const outputSchemas = outputs(
  ...[{ exclusiveMinimum: true }, { exclusiveMinimum: 1 }, { required: true }, { type: 'int' }].map(property),
  ...[{ type: ['string', 'null'] }, { type: ['any'] }, { type: [] }, { type: 'string', nullable: true }].map(property),
  ...[{ nullable: true }, { type: 'null', nullable: false }, { enum: [] }, { enum: [1] }, { enum: 'a' }].map(property),
  ...[{ pattern: '(?P<x>a)' }, { pattern: '(?<x>a)' }, { pattern: '[' }, { pattern: '\\Z' }].map(property),
  ...[{ pattern: '^\\w+$' }, { pattern: '[\\w-.]' }, { pattern: '\\-' }, { pattern: 'a{2' }, { pattern: 7 }].map(property),
  ...[{ pattern: '(?i)a' }, { pattern: '(?=a)*' }, { pattern: '\\p{L}\\u{41}' }, { pattern: '[a-\\d]' }].map(property),
  ...[{ $ref: '#/$defs/none' }, { $ref: '#' }, { $ref: 'other.json' }, { $ref: '#none' }, { $ref: 7 }].map(property),
  ...[{ additionalProperties: 'false' }, { additionalProperties: false }, { items: null }, { items: 7 }].map(property),
  ...[{ items: [{ type: 'int' }] }, { items: { minimum: '1' } }, { anyOf: [] }, { anyOf: [null] }].map(property),
  ...[{ anyOf: { type: 'string' } }, { oneOf: [{ type: 'string' }] }, { not: 7 }, { not: {} }].map(property),
  ...[{ minLength: '3' }, { maxItems: true }, { uniqueItems: 1 }, { multipleOf: '1' }, { format: {} }].map(property),
  ...[{ format: 'unknown' }, { properties: { b: null } }, { properties: [] }, { dependencies: { b: ['c'] } }].map(property),
  ...[{ dependencies: { b: null } }, { id: 'a' }, { const: null }, { default: { type: 'int' } }].map(property),
  ...[{ if: {}, then: { type: 'int' } }, { contains: 7 }, { propertyNames: 'a' }, { title: 7 }].map(property),
  { $defs: { b: { type: 'int' } } },
  { $defs: { b: { type: 'int' } }, properties: { a: { $ref: '#/$defs/b' } } },
  { $defs: { b: { type: 'string' } }, properties: { a: { $ref: '#/$defs/b' } } },
  { definitions: { b: { $anchor: 'c' } }, properties: { a: { $ref: '#c' } } },
  ...[{ $id: 7 }, { $id: 7, type: 'string' }, { $id: 0, type: 'string' }, { $anchor: 'b' }].map(property),
  ...[{ $id: 7 }, { $id: null }, { $id: 'b', not: { $id: 'b' } }, { $anchor: 'b', not: { $anchor: 'b' } }],
  ...[{ $anchor: 'b' }, { $id: '#b' }, { $id: 'c', $anchor: 'b' }, { $dynamicAnchor: 'b' }].map((b) => ({
    properties: { a: { $anchor: 'b' }, b },
  })),
  ...['b', 'b#', 'http://e.org/b', 'c'].map(($id) => ({
    $id: 'http://e.org/a',
    properties: { a: { $id: 'b' }, b: { $id } },
  })),
  { default: { a: { $anchor: 'b' }, b: { $anchor: 'b' } } },
  { more: { a: { $anchor: 'b' }, b: { $anchor: 'b' } } },
  { patternProperties: { '(': {} } },
  { required: 'a' },
  { required: [7] },
);

/** [output schema, structured content]. */
export const structured = [
  ...[{ a: 'x' }, { a: 7 }, {}, { a: 'x', b: null }].map((value) => [schema, value]),
  ...[{ a: { b: 1 } }, { a: { b: 'x' } }, { a: {} }, { a: [] }].map((value) => [
    { type: 'object', properties: { a: { type: 'object', properties: { b: { type: 'integer' } }, required: ['b'] } } },
    value,
  ]),
  ...[['x'], [7], [{ c: 1 }], [{ c: 'y' }]].map((value) => [
    { type: 'object', properties: { a: { type: 'array', items: { anyOf: [{ type: 'string' }, { $ref: '#/$defs/d' }] } } },
      $defs: { d: { type: 'object', properties: { c: { const: 1 } } } } },
    { a: value },
  ]),
  ...[
    ...[['date', '2026-01-31'], ['date', '2026-02-31'], ['date-time', '2026-01-31T10:00:00Z'], ['date-time', '10:00']],
    ...[['email', 'a@b.org'], ['email', 'a'], ['uri', 'https://e.org/a?b'], ['uri', 'a b'], ['ipv4', '127.0.0.1']],
    ...[['ipv4', '1.2.3.400'], ['uuid', '00000000-0000-4000-8000-000000000000'], ['uuid', 'x'], ['unknown', 'x']],
    ...[['time', '10:00:00Z'], ['time', '25:00:00Z'], ['byte', 'aGk='], ['byte', '?']],
  ].map(([format, a]) => [{ type: 'object', properties: { a: { type: 'string', format } } }, { a }]),
  ...[null, 'x', 7].map((a) => [
    { type: 'object', properties: { a: { type: 'string', nullable: true } } },
    { a },
  ]),
];
