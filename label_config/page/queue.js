/**
 * The save queue: brings every choice to the server exactly once and in order, whatever dies meanwhile.
 *
 * A write is immutable once it was sent: it is repeated with the same client and seq until the server answers, so that
 * the server recognises a repeat whose first reply was lost. Changes made meanwhile wait behind it and coalesce.
 * One request per conversation is in flight, so replies arrive in the order in which the server took the writes.
 */

import { unitKey } from "./session.js";
import { UnsavedStore } from "./unsaved.js";

const FIRST_DELAY = 500;
const LONGEST_DELAY = 30_000;
const RETRIED = new Set(["network", "server", "busy"]);

export class SaveQueue {
  #chains = new Map(); // (task, unit) -> {key, task, writes, attempt, notBefore, stale, parked}
  #flying = new Set(); // tasks with a request in flight
  #unkept = new Set(); // keys of chains the browser could not keep
  #seq = 0;
  #halted = null;
  #mayReauthenticate = true; // once between two acknowledged writes, never in a loop
  #timer = null;
  #store;
  #io;

  /**
   * `io`: {send(write) -> Promise<reply>, rejecting with an ApiError; storage; now(); random(); setTimer(fn, ms);
   * clearTimer(id); online() -> boolean; reauthenticate() -> Promise<boolean>}.
   * `listener`: {saved(write, reply, last), conflict(write, unit), stale(writes), changed()}.
   */
  constructor({ rater, client, io, listener }) {
    this.client = client;
    this.rater = rater;
    this.#io = io;
    this.listener = listener;
    this.#store = new UnsavedStore(io.storage, rater);
    for (const write of this.#store.all()) this.#chain(write).writes.push(write);
  }

  /** Start sending, with what an earlier load of the page left behind. */
  start() {
    this.#dispatch();
  }

  /**
   * The whole new state of a unit: {task, span_id, rev, labels, note, version, ms, copilot}. `version` is the one the
   * change was made on; behind an unacknowledged write the reply to that one will tell it.
   */
  put({ version, ...state }) {
    const chain = this.#chain(state);
    if (chain.parked) this.#unpark(chain);
    const last = chain.writes.at(-1);
    // `at` orders the writes of a unit over several loads of the page, even when the clock is set back
    const at = Math.max(this.#io.now(), last ? last.at + 1 : 0);
    const write = {
      ...state,
      client: this.client,
      seq: (this.#seq += 1),
      at,
      sent: false,
      base: last ? null : version,
    };
    if (last && !last.sent && last.client === this.client) {
      chain.writes.pop();
      write.base = last.base;
      write.ms = add(last.ms, write.ms);
    }
    chain.writes.push(write);
    this.#keep(chain);
    this.#dispatch();
    this.listener.changed();
  }

  /** The newest unacknowledged state of each unit of `task`. */
  unsaved(task) {
    return [...this.#chains.values()].filter((chain) => chain.task === task).map((chain) => chain.writes.at(-1));
  }

  /**
   * {state: "saved"|"saving"|"retrying"|"offline"|"error", count, reason, kept}: `count` units are not saved;
   * `reason` is null, "signed_out" or a sentence; `kept` tells whether the browser keeps them.
   */
  get status() {
    const chains = [...this.#chains.values()];
    const parked = chains.find((chain) => chain.parked);
    const base = { count: chains.length, reason: null, kept: this.#unkept.size === 0 };
    if (chains.length === 0) return { ...base, state: "saved" };
    if (this.#halted) return { ...base, state: "error", reason: this.#halted };
    if (parked) return { ...base, state: "error", reason: parked.parked };
    if (!this.#io.online()) return { ...base, state: "offline" };
    return { ...base, state: chains.some((chain) => chain.attempt > 0) ? "retrying" : "saving" };
  }

  isIdle(task) {
    return this.unsaved(task).length === 0;
  }

  get isHalted() {
    return this.#halted !== null;
  }

  /** Try again now: the network is back or the rater signed in again; with `refused`, also what the server refused. */
  resume({ refused = false } = {}) {
    this.#halted = null;
    this.#mayReauthenticate = true;
    for (const chain of this.#chains.values())
      Object.assign(chain, { notBefore: 0, parked: refused ? null : chain.parked });
    this.#dispatch();
    this.listener.changed();
  }

  /** Give up the writes the server refused for good (only ever on the rater's explicit wish). Answers them. */
  discardRefused() {
    const refused = [...this.#chains.values()].filter((chain) => chain.parked);
    const writes = refused.map((chain) => chain.writes.at(-1));
    refused.forEach((chain) => this.#drop(chain));
    this.listener.changed();
    return writes;
  }

  #chain({ task, span_id, rev }) {
    const key = `${task}/${unitKey({ span_id, rev })}`;
    if (!this.#chains.has(key)) {
      this.#chains.set(key, { key, task, writes: [], attempt: 0, notBefore: 0, stale: false, parked: null });
    }
    return this.#chains.get(key);
  }

  /** A new choice replaces what the server refused. */
  #unpark(chain) {
    chain.writes.forEach((write) => this.#store.drop(write));
    Object.assign(chain, { writes: [], attempt: 0, notBefore: 0, parked: null });
  }

  #keep(chain) {
    const own = chain.writes.filter((write) => write.client === this.client);
    if (own.length === 0) return;
    if (this.#store.keep(own)) this.#unkept.delete(chain.key);
    else this.#unkept.add(chain.key);
  }

  #drop(chain) {
    chain.writes.forEach((write) => this.#store.drop(write));
    this.#unkept.delete(chain.key);
    this.#chains.delete(chain.key);
  }

  #dispatch() {
    if (this.#halted) return;
    const now = this.#io.now();
    const waiting = [...this.#chains.values()].filter((chain) => !chain.parked && !chain.stale);
    waiting.sort((a, b) => a.writes[0].at - b.writes[0].at || a.writes[0].seq - b.writes[0].seq);
    for (const chain of waiting) {
      if (chain.notBefore <= now && !this.#flying.has(chain.task)) this.#send(chain);
    }
    this.#wakeAt(Math.min(...waiting.filter((chain) => chain.notBefore > now).map((chain) => chain.notBefore)));
  }

  #wakeAt(time) {
    if (this.#timer !== null) this.#io.clearTimer(this.#timer);
    const wake = () => {
      this.#timer = null;
      this.#dispatch();
    };
    this.#timer = Number.isFinite(time) ? this.#io.setTimer(wake, Math.max(0, time - this.#io.now())) : null;
  }

  async #send(chain) {
    const write = chain.writes[0];
    write.sent = true;
    this.#flying.add(chain.task);
    this.#keep(chain);
    const { reply, error } = await this.#io.send(write).then(
      (answer) => ({ reply: answer }),
      (problem) => ({ error: problem }),
    );
    this.#flying.delete(chain.task);
    if (reply) this.#acknowledged(chain, write, reply);
    else await this.#failed(chain, error);
    this.#dispatch();
    this.listener.changed();
  }

  #acknowledged(chain, write, reply) {
    chain.writes.shift();
    this.#mayReauthenticate = true;
    Object.assign(chain, { attempt: 0, notBefore: 0 });
    const [next] = chain.writes;
    if (next) this.#rebase(chain, next, reply.unit.version);
    // only now: whenever the page dies, what is kept can be sent as it stands
    this.#store.drop(write);
    if (!next) this.#drop(chain);
    this.#wakeAll(chain.task);
    this.listener.saved(write, reply, !next);
  }

  #rebase(chain, write, version) {
    write.base = version;
    if (write.client === this.client) this.#keep(chain);
    else this.#store.amend(write);
  }

  /** The server answers again, and an earlier decision may have made room for a later one. */
  #wakeAll(task) {
    for (const chain of this.#chains.values()) {
      chain.notBefore = 0;
      if (chain.task === task) chain.stale = false;
    }
  }

  async #failed(chain, error) {
    if (RETRIED.has(error.kind)) this.#delay(chain, error);
    else if (error.kind === "signed_out") await this.#signedOut();
    else if (error.kind === "conflict") {
      const lost = chain.writes.at(-1);
      this.#drop(chain);
      this.listener.conflict(lost, error.body.unit);
    } else if (error.kind === "stale_unit") {
      chain.stale = true;
    } else {
      chain.parked = error.message;
    }
    this.#settleStale(chain.task);
  }

  #delay(chain, error) {
    const growing = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** chain.attempt);
    const jittered = growing * (0.5 + this.#io.random() / 2);
    chain.attempt += 1;
    chain.notBefore = this.#io.now() + Math.max(jittered, (error.retryAfter ?? 0) * 1000);
  }

  async #signedOut() {
    this.#halted = "signed_out";
    this.listener.changed();
    // the session may live on with a renewed CSRF token; whoever is signed in now must be the same rater
    if (!this.#mayReauthenticate) return;
    this.#mayReauthenticate = false;
    if (await this.#io.reauthenticate()) this.#halted = null;
  }

  /**
   * A unit the server calls stale may only be waiting for an earlier decision that is still on its way. When nothing of
   * the conversation is on its way any more, the unit is really gone.
   */
  #settleStale(task) {
    const chains = [...this.#chains.values()].filter((chain) => chain.task === task && !chain.parked);
    const stale = chains.filter((chain) => chain.stale);
    if (stale.length === 0 || stale.length < chains.length) return;
    const writes = stale.map((chain) => chain.writes.at(-1));
    stale.forEach((chain) => this.#drop(chain));
    this.listener.stale(writes);
  }
}

function add(a, b) {
  return a === null || b === null || a === undefined || b === undefined ? (a ?? b ?? null) : a + b;
}
