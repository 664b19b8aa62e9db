/** The co-pilot's suggestions, fetched when a unit comes up and kept per (span, rev). Nobody ever waits for them. */

import { unitKey } from "./session.js";

export class Suggestions {
  #fetch;
  #arrived;
  #known = new Map(); // unit key -> list, or null while it is under way

  /** `fetch(unit)` -> Promise<{suggestions}>; `arrived(unit)` is called when a list that is not empty came in. */
  constructor({ fetch, arrived }) {
    this.#fetch = fetch;
    this.#arrived = arrived;
  }

  /** What is known for `unit` now; empty for loading, failure, abstention and control alike. */
  of(unit) {
    return this.#known.get(unitKey(unit)) ?? [];
  }

  /** Ask for `unit` unless that was done. A failure looks like no suggestion and is asked again on the next visit. */
  async want(unit) {
    const key = unitKey(unit);
    if (this.#known.has(key)) return;
    this.#known.set(key, null);
    try {
      const { suggestions } = await this.#fetch(unit);
      this.#known.set(key, suggestions);
      if (suggestions.length > 0) this.#arrived(unit);
    } catch (error) {
      this.#known.delete(key);
      if (!("kind" in error)) throw error;
    }
  }
}
