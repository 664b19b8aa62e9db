/** Small choices of a rater that the browser remembers. A browser that refuses storage forgets them, nothing more. */
export class Prefs {
  #storage;

  constructor(storage) {
    this.#storage = storage;
  }

  get(name, fallback) {
    try {
      const text = this.#storage.getItem(`convolabel:${name}`);
      return text === null ? fallback : text === "on";
    } catch {
      return fallback;
    }
  }

  set(name, on) {
    try {
      this.#storage.setItem(`convolabel:${name}`, on ? "on" : "off");
    } catch {
      // the switch itself still works until the page is left
    }
  }
}
