/** All conversations of one load of the page: one API, one save queue per rater, one state per conversation. */

import { Clock } from "./clock.js";
import { Coding } from "./coding.js";
import { SaveQueue } from "./queue.js";

export class Workroom {
  #env;
  #queues = new Map(); // rater -> SaveQueue
  #codings = new Map(); // task -> Promise<Coding>
  #opened = new Map(); // task -> Coding

  /**
   * `env`: {api, storage, prefs, client, next(), visible(), online(), now(), wallNow(), random(), setTimer, clearTimer}:
   * `now` never goes back, `wallNow` is comparable between loads of the page.
   */
  constructor(env) {
    this.#env = env;
    this.clock = new Clock({ now: env.now, visible: env.visible() });
  }

  /** The conversation of Label Studio's task number `task`. Rejects with an ApiError; asking again tries again. */
  open(task) {
    if (!this.#codings.has(task)) {
      const opening = this.#load(task);
      opening.catch(() => this.#codings.delete(task));
      this.#codings.set(task, opening);
    }
    return this.#codings.get(task);
  }

  /** Whether `task` was opened before in this load of the page. */
  has(task) {
    return this.#opened.has(task);
  }

  async #load(task) {
    const { api, prefs, next } = this.#env;
    const reply = await api.task(task);
    const save = this.#queue(reply.rater);
    const coding = new Coding({
      reply,
      api,
      save,
      next,
      clock: this.clock,
      autoAdvance: prefs.get("auto-advance", true),
      isStillRater: () => this.#isStill(reply.rater),
    });
    this.#opened.set(task, coding);
    save.start();
    return coding;
  }

  #queue(rater) {
    if (!this.#queues.has(rater)) this.#queues.set(rater, this.#makeQueue(rater));
    return this.#queues.get(rater);
  }

  #makeQueue(rater) {
    const { api, storage, wallNow, random, setTimer, clearTimer, online, client } = this.#env;
    const on = (task) => this.#opened.get(task);
    return new SaveQueue({
      rater,
      client,
      io: {
        send: (write) => api.putUnit(write),
        storage,
        now: wallNow,
        random,
        setTimer,
        clearTimer,
        online,
        reauthenticate: () => this.#isStill(rater),
      },
      listener: {
        saved: (write, reply, last) => on(write.task)?.saved(write, reply, last),
        conflict: (write, unit) => on(write.task)?.conflict(write, unit),
        stale: (writes) => on(writes[0].task)?.stale(writes),
        changed: () => this.#opened.forEach((coding) => coding.saveChanged()),
      },
    });
  }

  /** Whether the browser is signed in as `rater` (again). */
  async #isStill(rater) {
    const coding = [...this.#opened.values()].find(({ session }) => session.rater === rater);
    if (!coding) return false;
    try {
      const reply = await this.#env.api.task(coding.task);
      if (reply.rater !== rater) return false;
    } catch (error) {
      if (!("kind" in error)) throw error;
      return false;
    }
    this.#env.api.renewToken();
    return true;
  }

  /** Try again what waits; with `refused` (the rater's wish), also what the server refused. */
  async retry({ refused = false } = {}) {
    for (const [rater, queue] of this.#queues) {
      if (queue.isHalted && !(await this.#isStill(rater))) continue;
      queue.resume({ refused });
    }
  }

  /** Give up what the server refused for good, and show its state again. */
  async discardRefused() {
    const tasks = new Set(
      [...this.#queues.values()].flatMap((queue) => queue.discardRefused()).map(({ task }) => task),
    );
    await Promise.all([...tasks].map((task) => this.#opened.get(task)?.refetch()));
  }

  setVisible(visible) {
    this.clock.setVisible(visible);
    if (!visible) this.#opened.forEach((coding) => coding.flushNote());
  }

  /** Whether leaving the page now would lose a choice: unsaved, and the browser could not keep it. */
  get wouldLose() {
    this.#opened.forEach((coding) => coding.flushNote());
    return [...this.#queues.values()].some(({ status }) => status.count > 0 && !status.kept);
  }
}
