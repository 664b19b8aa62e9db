import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../../label_config/page/api.js";
import { SaveQueue } from "../../label_config/page/queue.js";
import { FakePlugin, conversation } from "./fake_plugin.mjs";

class MemoryStorage {
  #entries = new Map();
  full = false;
  get length() {
    return this.#entries.size;
  }
  key(i) {
    return [...this.#entries.keys()][i];
  }
  getItem(key) {
    return this.#entries.get(key) ?? null;
  }
  setItem(key, value) {
    if (this.full) throw new DOMException("full", "QuotaExceededError");
    this.#entries.set(key, value);
  }
  removeItem(key) {
    this.#entries.delete(key);
  }
}

const KINDS = { 400: "invalid", 401: "signed_out", 404: "not_found", 423: "busy", 500: "server" };

/** A browser with its storage, a server, and time that passes only when told to. */
class World {
  now = 1000;
  timers = [];
  storage = new MemoryStorage();
  plugin = new FakePlugin(
    {
      1: conversation([
        ["Eins.", "Zwei.", "Drei."],
        ["Vier.", "Fünf."],
      ]),
    },
    { hideFuture: false },
  );
  faults = []; // for the next requests: null (none), "lost" (taken, reply lost), "down", or a status
  offline = false;
  requests = [];
  signedIn = true;

  tab(name) {
    return new Tab(this, name);
  }

  async answer(write) {
    this.requests.push(structuredClone(write));
    const fault = this.faults.shift() ?? null;
    if (!this.signedIn) throw new ApiError("signed_out", "signed out", { status: 401 });
    if (fault === "down" || this.offline) throw new ApiError("network", "down");
    if (typeof fault === "number") throw new ApiError(KINDS[fault], `status ${fault}`, { status: fault });
    const { rev, labels, note, base, client, seq, ms, copilot } = write;
    const { status, body } = this.plugin.handle("PUT", `tasks/${write.task}/units/${write.span_id}`, {
      rev,
      labels,
      note,
      base,
      client,
      seq,
      ms,
      copilot,
    });
    if (fault === "lost") throw new ApiError("network", "reply lost");
    if (status === 200) return body;
    throw new ApiError(body.code, body.error, { status, body });
  }

  /** Let everything that is due happen, without time passing. */
  async settle() {
    for (let i = 0; i < 12; i += 1) await new Promise((resolve) => setImmediate(resolve));
  }

  async pass(ms) {
    const until = this.now + ms;
    await this.settle();
    for (;;) {
      this.timers.sort((a, b) => a.at - b.at);
      if (this.timers.length === 0 || this.timers[0].at > until) break;
      const timer = this.timers.shift();
      this.now = Math.max(this.now, timer.at);
      timer.run();
      await this.settle();
    }
    this.now = until;
  }
}

/** One load of the page. */
class Tab {
  alive = true;
  events = [];
  version = {};

  constructor(world, client) {
    this.world = world;
    for (const unit of world.plugin.task(1).units) this.version[unit.span_id] = unit.version;
    this.queue = new SaveQueue({
      rater: 7,
      client,
      io: {
        send: (write) => this.#whileAlive(world.answer(write)),
        storage: world.storage,
        now: () => world.now,
        random: () => 0.5,
        online: () => !world.offline,
        setTimer: (run, delay) => {
          const timer = { run: () => this.alive && run(), at: world.now + delay };
          world.timers.push(timer);
          return timer;
        },
        clearTimer: (timer) => {
          world.timers = world.timers.filter((other) => other !== timer);
        },
        reauthenticate: async () => world.signedIn,
      },
      listener: {
        saved: (write, reply) => {
          this.version[write.span_id] = reply.unit.version;
          this.events.push(["saved", write.span_id]);
        },
        conflict: (write, unit) => {
          this.version[write.span_id] = unit.version;
          this.events.push(["conflict", write.labels.intent ?? null, unit.labels.intent ?? null]);
        },
        stale: (writes) => this.events.push(["stale", ...writes.map(({ span_id }) => span_id)]),
        changed: () => {},
      },
    });
    this.queue.start();
  }

  /** A reply that arrives after the page is gone is heard by nobody. */
  #whileAlive(promise) {
    return new Promise((resolve, reject) =>
      promise.then(
        (value) => this.alive && resolve(value),
        (error) => this.alive && reject(error),
      ),
    );
  }

  choose(span, label, { ms = 100, note = "" } = {}) {
    const labels = label === null ? {} : { intent: label };
    this.queue.put({
      task: 1,
      span_id: span,
      rev: 1,
      labels,
      note,
      version: this.version[span],
      ms,
      copilot: { shown: false, accepted: false },
    });
  }

  close() {
    this.alive = false;
  }

  get state() {
    return this.queue.status.state;
  }
}

const label = (world, span) => world.plugin.state(1, span).labels.intent ?? null;

test("a choice is saved, and only then called so", async () => {
  const world = new World();
  const tab = world.tab("A");
  tab.choose("c-0-0", "Q");
  assert.equal(tab.state, "saving");
  assert.equal(world.storage.length, 1);
  await world.settle();
  assert.equal(tab.state, "saved");
  assert.equal(label(world, "c-0-0"), "Q");
  assert.equal(world.storage.length, 0);
});

test("changes of a unit whose request is in flight coalesce, and none overtakes another", async () => {
  const world = new World();
  const tab = world.tab("A");
  for (const choice of ["Q", "R", null, "A"]) tab.choose("c-0-0", choice, { ms: 100 });
  await world.settle();
  assert.deepEqual(
    world.plugin.log.map(({ labels, ms, base }) => [labels.intent, ms, base]),
    [
      ["Q", 100, 0],
      ["A", 300, 1],
    ],
  );
});

test("a lost reply: the same request again, recognised by the server, then the newer state", async () => {
  const world = new World();
  const tab = world.tab("A");
  world.faults = ["lost"];
  tab.choose("c-0-0", "Q");
  await world.settle();
  assert.equal(tab.state, "retrying");
  tab.choose("c-0-0", "R");
  await world.pass(1000); // first delay 500 x (0.5 + 0.25) = 375 ms
  assert.equal(tab.state, "saved");
  assert.deepEqual(
    world.requests.map(({ seq }) => seq),
    [1, 1, 2],
  );
  assert.deepEqual(
    world.plugin.log.map(({ labels }) => labels.intent),
    ["Q", "R"],
  );
  assert.deepEqual(tab.events, [
    ["saved", "c-0-0"],
    ["saved", "c-0-0"],
  ]);
});

test("500, 423 and no network are retried ever more slowly until the server answers", async () => {
  const world = new World();
  const tab = world.tab("A");
  world.faults = [500, 423, "down", 500];
  tab.choose("c-0-0", "Q");
  await world.pass(300);
  assert.equal(world.requests.length, 1);
  await world.pass(100); // 375
  assert.equal(world.requests.length, 2);
  await world.pass(700); // + 750 = 1125
  assert.equal(world.requests.length, 2);
  await world.pass(10_000);
  assert.equal(world.requests.length, 5);
  assert.equal(tab.state, "saved");
});

test("a unit the server stumbles over does not hold up the others", async () => {
  const world = new World();
  const tab = world.tab("A");
  world.faults = [500];
  tab.choose("c-0-0", "Q");
  tab.choose("c-0-1", "R");
  await world.settle();
  assert.equal(label(world, "c-0-1"), "R");
  await world.settle(); // its success shows that the server is back: no further waiting
  assert.equal(label(world, "c-0-0"), "Q");
});

test("offline: choices are kept and counted, and sent when the network is back", async () => {
  const world = new World();
  const tab = world.tab("A");
  world.offline = true;
  tab.choose("c-0-0", "Q");
  tab.choose("c-0-1", "R");
  await world.settle();
  assert.deepEqual(
    { state: tab.state, count: tab.queue.status.count, kept: tab.queue.status.kept },
    { state: "offline", count: 2, kept: true },
  );
  world.offline = false;
  tab.queue.resume();
  await world.settle();
  assert.equal(tab.state, "saved");
});

test("a reload in the middle takes over what was not acknowledged, with its client, seq and base", async () => {
  const world = new World();
  const first = world.tab("A");
  world.faults = ["lost"];
  first.choose("c-0-0", "Q"); // taken, reply lost
  first.choose("c-0-1", "R"); // never sent: the page dies
  first.close();
  await world.settle();
  world.faults = [];
  world.now += 1;
  const second = world.tab("B");
  assert.equal(second.queue.unsaved(1).length, 2);
  second.choose("c-0-0", "A"); // on top of what is not acknowledged yet
  await world.pass(5000);
  assert.deepEqual([label(world, "c-0-0"), label(world, "c-0-1")], ["A", "R"]);
  assert.deepEqual(
    world.plugin.log.map(({ client, seq, labels }) => [client, seq, labels.intent]),
    [
      ["A", 1, "Q"],
      ["A", 2, "R"],
      ["B", 1, "A"],
    ],
  );
  assert.ok(second.events.every(([kind]) => kind === "saved"));
  assert.equal(world.storage.length, 0);
});

test("another rater in the same browser neither sees nor sends what the first left", async () => {
  const world = new World();
  const tab = world.tab("A");
  world.offline = true;
  tab.choose("c-0-0", "Q");
  await world.settle();
  const other = new SaveQueue({
    rater: 8,
    client: "X",
    io: { storage: world.storage, online: () => true, now: () => 0 },
    listener: {},
  });
  assert.equal(other.unsaved(1).length, 0);
});

test("two tabs: the later one learns of the conflict and adopts the server's state", async () => {
  const world = new World();
  const [one, two] = [world.tab("A"), world.tab("B")];
  one.choose("c-0-0", "Q");
  await world.settle();
  two.choose("c-0-0", "R");
  await world.settle();
  assert.deepEqual(two.events, [["conflict", "R", "Q"]]);
  assert.equal(label(world, "c-0-0"), "Q");
  assert.equal(two.state, "saved");
  two.choose("c-0-0", "R"); // made on the state it sees now
  await world.settle();
  assert.equal(label(world, "c-0-0"), "R");
});

test("a second tab that opens while the first waits sends the first one's choices once only", async () => {
  const world = new World();
  const one = world.tab("A");
  world.faults = ["down", "down"];
  one.choose("c-0-0", "Q");
  await world.settle();
  const two = world.tab("B");
  await world.settle();
  one.choose("c-0-0", "R"); // the first tab lives on
  await world.pass(5000);
  assert.equal(label(world, "c-0-0"), "R");
  assert.deepEqual(
    world.plugin.log.map(({ labels }) => labels.intent),
    ["Q", "R"],
  );
  assert.deepEqual([one.state, two.state], ["saved", "saved"]);
});

test("signed out: everything stops and is kept; the same rater's return sends it", async () => {
  const world = new World();
  const tab = world.tab("A");
  world.signedIn = false;
  tab.choose("c-0-0", "Q");
  tab.choose("c-0-1", "R");
  await world.pass(120_000);
  assert.equal(world.requests.length, 1);
  assert.deepEqual([tab.state, tab.queue.status.reason, tab.queue.status.count], ["error", "signed_out", 2]);
  world.signedIn = true;
  tab.queue.resume();
  await world.settle();
  assert.deepEqual([label(world, "c-0-0"), label(world, "c-0-1"), tab.state], ["Q", "R", "saved"]);
});

test("a renewed CSRF token: one look at who is signed in, no loop when it does not help", async () => {
  const world = new World();
  const tab = world.tab("A");
  world.faults = [401];
  tab.choose("c-0-0", "Q");
  await world.settle();
  assert.equal(tab.state, "saved");
  world.faults = Array(50).fill(401);
  tab.choose("c-0-1", "R");
  await world.pass(60_000);
  assert.equal(tab.state, "error");
  assert.equal(world.requests.length, 4);
});

test("a refusal is shown, holds up nothing else, survives a reload, and a new choice replaces it", async () => {
  const world = new World();
  const tab = world.tab("A");
  tab.choose("c-0-0", "no-such-category");
  tab.choose("c-0-1", "R");
  await world.settle();
  assert.deepEqual([tab.state, tab.queue.status.reason], ["error", "refused: invalid"]);
  assert.equal(label(world, "c-0-1"), "R");
  tab.close();
  const again = world.tab("B");
  await world.settle();
  assert.equal(again.state, "error");
  again.choose("c-0-0", "Q");
  await world.settle();
  assert.deepEqual([label(world, "c-0-0"), again.state, world.storage.length], ["Q", "saved", 0]);
});

test("a refused choice is given up only when told to", async () => {
  const world = new World();
  const tab = world.tab("A");
  tab.choose("c-0-0", "no-such-category");
  await world.settle();
  assert.deepEqual(
    tab.queue.discardRefused().map(({ span_id }) => span_id),
    ["c-0-0"],
  );
  assert.deepEqual([tab.state, world.storage.length], ["saved", 0]);
});

test("a unit that is gone is told once, after everything else was sent", async () => {
  const world = new World();
  const tab = world.tab("A");
  world.plugin.conversations[1].spans[0].rev = 2; // split and merged meanwhile
  tab.choose("c-0-0", "Q");
  tab.choose("c-0-1", "R");
  await world.settle();
  assert.deepEqual(tab.events, [
    ["saved", "c-0-1"],
    ["stale", "c-0-0"],
  ]);
  assert.deepEqual([tab.state, world.storage.length], ["saved", 0]);
});

test("stale only because an earlier decision is still on its way: sent again behind it", async () => {
  const world = new World();
  world.plugin.hideFuture = true;
  const tab = world.tab("A");
  tab.version["c-1-0"] = 0;
  for (const span of ["c-0-0", "c-0-1"]) tab.choose(span, "Q");
  await world.settle();
  world.faults = [500];
  tab.choose("c-0-2", "Q"); // would bring the next message into view
  tab.choose("c-1-0", "R");
  await world.pass(5000);
  assert.equal(label(world, "c-1-0"), "R");
  assert.ok(tab.events.every(([kind]) => kind === "saved"));
});

test("a storage that is full or missing: choices still go out, and the page knows they are not kept", async () => {
  for (const storage of ["full", "missing"]) {
    const world = new World();
    if (storage === "full") world.storage.full = true;
    else world.storage = null;
    const tab = world.tab("A");
    world.faults = [500];
    tab.choose("c-0-0", "Q");
    await world.settle();
    assert.deepEqual([tab.state, tab.queue.status.kept], ["retrying", false]);
    await world.pass(1000);
    assert.deepEqual([tab.state, tab.queue.status.kept, label(world, "c-0-0")], ["saved", true, "Q"]);
  }
});

test("entries that cannot be read are left alone", () => {
  const world = new World();
  world.storage.setItem("convolabel:unsaved:7:1:c-0-0:1:Z", "{broken");
  world.storage.setItem("convolabel:unsaved:7:1:c-0-1:1:Z", '[{"client": 1}]');
  assert.equal(world.tab("A").state, "saved");
  assert.equal(world.storage.length, 2);
});

test("whatever fails, after any reloads, the server has the last choice of every unit, each write once and in order", async () => {
  for (let seed = 1; seed <= 350; seed += 1) {
    let state = seed;
    const next = (below) => {
      state = (state * 1664525 + 1013904223) % 4294967296;
      return Math.floor((state / 4294967296) * below);
    };
    const world = new World();
    const spans = ["c-0-0", "c-0-1", "c-0-2", "c-1-0"];
    const chosen = {};
    let loads = 0;
    let tab = world.tab(`load-${loads}`);
    for (let i = 0; i < 60; i += 1) {
      const span = spans[next(spans.length)];
      const choice = ["Q", "R", "A", "unsure", null][next(5)];
      const note = `note ${i}`; // makes every state unique
      (chosen[span] ??= []).push(note);
      tab.choose(span, choice, { note });
      world.faults = Array.from({ length: 3 }, () => [null, null, "lost", "down", 500, 423][next(6)]);
      const what = next(8);
      if (what < 4) await world.pass(next(600));
      if (what === 7) {
        tab.close();
        await world.settle();
        tab = world.tab(`load-${(loads += 1)}`);
      }
    }
    world.faults = [];
    await world.pass(300_000);
    assert.equal(tab.state, "saved", `seed ${seed}`);
    assert.equal(world.storage.length, 0);
    for (const span of Object.keys(chosen)) {
      assert.equal(world.plugin.state(1, span).note, chosen[span].at(-1), `seed ${seed}, ${span}`);
      const order = world.plugin.log
        .filter((write) => write.span_id === span)
        .map((write) => chosen[span].indexOf(write.note));
      assert.deepEqual(
        order,
        [...new Set(order)].sort((a, b) => a - b),
        `seed ${seed}, ${span}`,
      );
    }
    const ids = world.plugin.log.map(({ client, seq }) => `${client}/${seq}`);
    assert.equal(new Set(ids).size, ids.length);
  }
});
