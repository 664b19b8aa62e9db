/** Time during which a unit was the current one in a visible tab. `now` returns milliseconds and never goes back. */
export class Clock {
  #now;
  #spent = new Map();
  #unit = null;
  #visible;
  #since = 0;

  constructor({ now, visible = true }) {
    this.#now = now;
    this.#visible = visible;
    this.#since = now();
  }

  /** Another unit (or none: null) is the current one from now on. */
  enter(unit) {
    this.#settle();
    this.#unit = unit;
  }

  setVisible(visible) {
    this.#settle();
    this.#visible = visible;
  }

  /** Whole milliseconds spent on `unit` since they were last taken. */
  take(unit) {
    this.#settle();
    const spent = this.#spent.get(unit) ?? 0;
    const whole = Math.floor(spent);
    this.#spent.set(unit, spent - whole);
    return whole;
  }

  #settle() {
    const now = this.#now();
    if (this.#visible && this.#unit !== null) {
      this.#spent.set(this.#unit, (this.#spent.get(this.#unit) ?? 0) + Math.max(0, now - this.#since));
    }
    this.#since = now;
  }
}
