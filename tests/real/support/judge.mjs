// Judges messages by the published schema of one revision of the protocol.
import Ajv from 'ajv';
import Ajv2020 from 'ajv/dist/2020.js';
import { publishedSchemas } from './published.mjs';

const schemas = Object.fromEntries(
  Object.entries(publishedSchemas()).map(([revision, schema]) => [revision, strict(schema)]),
);
export const revisions = Object.keys(schemas);

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
