/** The plugin's HTTP interface (docs/plugin-api.md) as typed calls. */

export class ApiError extends Error {
  /**
   * `kind`: "network" | "server" | "busy" | "signed_out" | "not_found" | "conflict" | "stale_unit" | "unfinished" |
   * "invalid" | "refused".
   */
  constructor(kind, message, { status = 0, body = {}, retryAfter = null } = {}) {
    super(message);
    Object.assign(this, { name: "ApiError", kind, status, body, retryAfter });
  }
}

const CONFLICTS = new Set(["conflict", "stale_unit", "unfinished"]);

function kindOf(status, code) {
  if (status === 401 || status === 403) return "signed_out";
  if (status === 404) return "not_found";
  if (status === 409 && CONFLICTS.has(code)) return code;
  if (status === 423) return "busy";
  if (status === 400) return "invalid";
  return status >= 500 || status === 408 || status === 429 ? "server" : "refused";
}

export class Api {
  #fetch;
  #root;
  #readToken;
  #token;

  /** `readToken` reads the CSRF cookie. */
  constructor({ fetch, root = "/convolabel/api/", readToken }) {
    this.#fetch = fetch;
    this.#root = root;
    this.#readToken = readToken;
    this.renewToken();
  }

  /**
   * Signing in changes the CSRF token. Keeping the one of the page's own load means that nothing written here can reach
   * the account of somebody who signed in meanwhile in another tab, until that person is known to be the same.
   */
  renewToken() {
    this.#token = this.#readToken();
  }

  task(task) {
    return this.#call("GET", `tasks/${task}`);
  }

  putUnit({ task, span_id, rev, labels, note, base, client, seq, ms, copilot }) {
    const body = { rev, labels, note, base, client, seq, ms, copilot };
    // a request under way outlives the page that is being left
    return this.#call("PUT", `tasks/${task}/units/${encodeURIComponent(span_id)}`, { body, keepalive: true });
  }

  suggestion(task, { span_id, rev }) {
    return this.#call("POST", `tasks/${task}/units/${encodeURIComponent(span_id)}/suggestion`, {
      body: { rev },
      timeout: 8000,
    });
  }

  finish(task) {
    return this.#call("POST", `tasks/${task}/finish`, { body: {}, timeout: 30_000 });
  }

  async #call(method, path, { body, timeout = 15_000, keepalive = false } = {}) {
    const headers = { Accept: "application/json" };
    if (body !== undefined) Object.assign(headers, { "Content-Type": "application/json", "X-CSRFToken": this.#token });
    let response;
    let text;
    try {
      response = await this.#fetch(this.#root + path, {
        method,
        headers,
        keepalive,
        credentials: "same-origin",
        cache: "no-store",
        body: body === undefined ? undefined : JSON.stringify(body),
        signal: AbortSignal.timeout(timeout),
      });
      text = await response.text();
    } catch (error) {
      throw new ApiError("network", `The server cannot be reached (${error.name}).`);
    }
    return this.#read(response, text);
  }

  #read(response, text) {
    const { status } = response;
    let body;
    try {
      body = JSON.parse(text);
    } catch {
      // a sign-in page in place of the answer means signed out; anything else is a server in trouble
      const kind = response.ok && response.redirected ? "signed_out" : response.ok ? "server" : kindOf(status, null);
      throw new ApiError(kind, `The server's answer (status ${status}) cannot be read.`, { status });
    }
    if (response.ok) return body;
    const retryAfter = Number.parseFloat(response.headers.get("Retry-After")) || null;
    const message = typeof body.error === "string" ? body.error : `The server answered with status ${status}.`;
    throw new ApiError(kindOf(status, body.code), message, { status, body, retryAfter });
  }
}
