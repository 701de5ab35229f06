// Certificates for a daemon over TLS, of an authority that only the test knows.
import { execFileSync } from 'node:child_process';

export class Authority {
  #box;

  constructor(box) {
    this.#box = box;
    this.#openssl('req', '-x509', ...this.#newKey('authority'), '-out', this.file, '-days', '2');
  }

  /** What a client has to trust. */
  get file() {
    return this.#box.path('authority.pem');
  }

  /** The environment of a daemon with a certificate for this name, valid for this many days. */
  certify(name, days = 2) {
    const [key, request, cert] = ['key', 'request', 'cert'].map((kind) =>
      this.#box.path(`${name}.${kind}`),
    );
    const alternative = /^[\d.]+$/.test(name) ? `IP:${name}` : `DNS:${name}`;
    this.#openssl(
      ...['req', ...this.#newKey(name), '-out', request],
      ...['-addext', `subjectAltName=${alternative}`],
    );
    this.#openssl(
      ...['x509', '-req', '-in', request, '-out', cert, '-days', `${days}`],
      ...['-copy_extensions', 'copy'],
      ...['-CA', this.file, '-CAkey', this.#box.path('authority.key')],
    );
    return { TLS_KEY: key, TLS_CERT: cert };
  }

  #newKey(name) {
    return [
      ...['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
      ...['-keyout', this.#box.path(`${name}.key`), '-subj', `/CN=${name}`],
    ];
  }

  #openssl(...args) {
    execFileSync('openssl', args, { env: this.#box.env, stdio: ['ignore', 'ignore', 'pipe'] });
  }
}
