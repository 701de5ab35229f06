// Judges messages by the published schema of one revision of the protocol.
import Ajv from 'ajv';
import Ajv2020 from 'ajv/dist/2020.js';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { testsDir } from './programs.mjs';

const schemas = publishedSchemas();
export const revisions = Object.keys(schemas);

/** The schemas are published in no package of their own, but the program of the conformance suite contains them. */
function publishedSchemas() {
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
  return Object.fromEntries(all.map((schema, index) => [dates[index], strict(schema)]));
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

/** Forbids what a schema allows and the bridge never has to write: other members of a frame. */
function strict(schema) {
  const all = schema.$defs ?? schema.definitions;
  const result = all.JSONRPCResultResponse ?? all.JSONRPCResponse;
  const error = all.JSONRPCErrorResponse ?? all.JSONRPCError;
  const inner = all.Error ?? error.properties.error;
  for (const frame of [all.JSONRPCRequest, all.JSONRPCNotification, result, error, inner]) {
    frame.additionalProperties = false;
  }
  // Older schemas say this in a comment only.
  all.CompleteResult.properties.completion.properties.values.maxItems = 100;
  return schema;
}

export class Judge {
  #ajv;
  #part;
  #definitions;
  /** The name of the definition of each method. */
  #methods = new Map();

  constructor(revision) {
    const schema = schemas[revision];
    this.#part = schema.$defs ? '$defs' : 'definitions';
    this.#definitions = schema[this.#part];
    this.#ajv = new (schema.$defs ? Ajv2020 : Ajv)({ strict: false });
    this.#ajv.addFormat('uri', /^[A-Za-z][A-Za-z0-9+.-]*:/);
    for (const format of ['byte', 'uri-template']) this.#ajv.addFormat(format, true);
    this.#ajv.addSchema(schema, 'schema');
    for (const part of ['Request', 'Notification']) {
      for (const side of ['Client', 'Server']) {
        for (const { $ref } of this.#definitions[side + part]?.anyOf ?? []) this.#addMethod($ref.split('/').at(-1));
      }
    }
  }

  /** The bridge has no part in tasks, and passes questions to the user on as they are. */
  #addMethod(name) {
    const method = this.#definitions[name].properties.method.const;
    if (!/task|^sampling|elicitation/.test(method)) this.#methods.set(method, name);
  }

  /** What is wrong with this message, or null. `asked` is the method that was answered. */
  faultOf(message, asked) {
    if (message.method === undefined) {
      const fault = this.faultOfFrame(message);
      if (message.error) return fault;
      return fault ?? this.#faultOfResult(message.result, asked);
    }
    const kind = message.id === undefined ? 'Notification' : 'Request';
    const name = this.#methods.get(message.method);
    if (!name?.endsWith(kind)) return `this revision knows no ${kind} ${message.method}`;
    return this.#fault(`JSONRPC${kind}`, message) ?? this.#fault(name, message);
  }

  /** The same for an answer whose request is unknown here. */
  faultOfFrame(message) {
    const names =
      message.error === undefined
        ? ['JSONRPCResultResponse', 'JSONRPCResponse']
        : ['JSONRPCErrorResponse', 'JSONRPCError'];
    return this.#fault(names.find((name) => this.#definitions[name]), message);
  }

  /** A result is complete, unless it asks for input. */
  #faultOfResult(result, asked) {
    const name = this.#methods.get(asked)?.replace(/Request$/, 'Result');
    if (!name) return `this revision knows no answer to ${asked}`;
    const isQuestion = asked === 'tools/call' && result.resultType === 'input_required';
    if (isQuestion && this.#definitions.InputRequiredResult) return this.#fault('InputRequiredResult', result);
    const isComplete = result.resultType === 'complete' || !this.#definitions.ResultType;
    if (!isComplete) return `the result is ${result.resultType}, not complete`;
    return this.#fault(this.#definitions[name] ? name : 'EmptyResult', result);
  }

  #fault(name, value) {
    const isValid = this.#ajv.getSchema(`schema#/${this.#part}/${name}`);
    return isValid(value) ? null : `${name}: ${this.#ajv.errorsText(isValid.errors)}`;
  }
}
