// Judges messages by what one revision of the protocol says about them. The facts are in ../schema.
import Ajv from 'ajv';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { testsDir } from './programs.mjs';

export const revisions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'];

export class Judge {
  #facts;
  #ajv = new Ajv({ strictTypes: false, strictRequired: false, allowUnionTypes: true });
  #checks = new Map();

  constructor(revision) {
    const path = join(testsDir, 'schema', `${revision}.json`);
    this.#facts = JSON.parse(readFileSync(path, 'utf8'));
  }

  /** What is wrong with this message, or null. `asked` is the method that was answered. */
  faultOf(message, asked) {
    if (message.method !== undefined) {
      const kind = message.id === undefined ? 'notification' : 'request';
      const params = message.params ?? {};
      return (
        this.#fault('frames', kind, message) ?? this.#fault(`${kind}s`, message.method, params)
      );
    }
    if (message.error !== undefined) return this.#fault('frames', 'error', message);
    const { result } = message;
    return this.#fault('frames', 'answer', message) ?? this.#fault('results', asked, result);
  }

  /** The same for an answer whose request is unknown here. */
  faultOfFrame(message) {
    return this.#fault('frames', message.error === undefined ? 'answer' : 'error', message);
  }

  #fault(part, name, value) {
    const key = `${part} ${name}`;
    const schema = this.#facts[part][name];
    if (!schema) return `${this.#facts.revision} knows no ${key}`;
    if (!this.#checks.has(key)) {
      const { definitions } = this.#facts;
      this.#checks.set(key, this.#ajv.compile({ definitions, allOf: [schema] }));
    }
    const isValid = this.#checks.get(key);
    return isValid(value) ? null : `${key}: ${this.#ajv.errorsText(isValid.errors)}`;
  }
}
