/**
 * Writes the server has not acknowledged yet, kept in the browser so that a reload or a crash loses nothing.
 * One storage key per (rater, task, span, rev, client): two tabs never overwrite each other's entries.
 */

const PREFIX = "convolabel:unsaved:";

const keyOf = (rater, write) =>
  PREFIX + [rater, write.task, write.span_id, write.rev, write.client].map(encodeURIComponent).join(":");

const isWrite = (value) =>
  value !== null &&
  typeof value === "object" &&
  typeof value.client === "string" &&
  Number.isInteger(value.seq) &&
  typeof value.span_id === "string" &&
  value.labels !== null &&
  typeof value.labels === "object" &&
  "task" in value;

function parse(text) {
  try {
    const list = JSON.parse(text);
    return Array.isArray(list) ? list.filter(isWrite) : [];
  } catch {
    return []; // not ours to repair; it stays where it is
  }
}

export class UnsavedStore {
  #storage;
  #rater;

  /** `storage` is localStorage or its like (null when the browser refuses it). */
  constructor(storage, rater) {
    this.#storage = storage;
    this.#rater = rater;
  }

  /** Keep exactly `writes` (all of one unit and one client) beside what other clients keep. False when that failed. */
  keep(writes) {
    try {
      this.#storage.setItem(keyOf(this.#rater, writes[0]), JSON.stringify(writes));
      return true;
    } catch {
      return false;
    }
  }

  /** Drop `write`, leaving what its client may have added meanwhile in another tab. */
  drop(write) {
    try {
      const key = keyOf(this.#rater, write);
      const rest = parse(this.#storage.getItem(key) ?? "[]").filter(({ seq }) => seq > write.seq);
      if (rest.length === 0) this.#storage.removeItem(key);
      else this.#storage.setItem(key, JSON.stringify(rest));
    } catch {
      // a storage that cannot be written kept nothing either; a repeated write is recognised by the server
    }
  }

  /** Keep the new form of `write`, which another load of the page left here, leaving that one's other writes alone. */
  amend(write) {
    try {
      const key = keyOf(this.#rater, write);
      const list = parse(this.#storage.getItem(key) ?? "[]").map((kept) => (kept.seq === write.seq ? write : kept));
      if (list.length > 0) this.#storage.setItem(key, JSON.stringify(list));
    } catch {
      // what is kept stays as it was
    }
  }

  /** Every write of this rater, oldest first. */
  all() {
    const prefix = `${PREFIX}${encodeURIComponent(this.#rater)}:`;
    const writes = [];
    try {
      for (let i = 0; i < this.#storage.length; i += 1) {
        const key = this.#storage.key(i);
        if (key.startsWith(prefix)) writes.push(...parse(this.#storage.getItem(key)));
      }
    } catch {
      return [];
    }
    return writes.sort((a, b) => a.at - b.at || a.seq - b.seq);
  }
}
