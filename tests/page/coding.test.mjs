import assert from "node:assert/strict";
import { test } from "node:test";
import { Api, ApiError } from "../../label_config/page/api.js";
import { Prefs } from "../../label_config/page/prefs.js";
import { Suggestions } from "../../label_config/page/suggestions.js";
import { Workroom } from "../../label_config/page/workroom.js";
import { FakePlugin, conversation } from "./fake_plugin.mjs";

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const turns = async (count = 10) => {
  for (let i = 0; i < count; i += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** The whole page without its DOM, over a fetch that the plugin in memory answers. */
async function open({ texts = [["Eins.", "Zwei."], ["Drei."]], hideFuture = true, next = async () => false } = {}) {
  const plugin = new FakePlugin({ 1: conversation(texts) }, { hideFuture });
  const asked = [];
  const context = { plugin, asked, fail: null, token: "t1", serverToken: "t1", time: 0 };
  const fetch = async (path, { method, headers, body }) => {
    asked.push(`${method} ${path}`);
    let answer = context.fail?.(method, path);
    if (!answer && method !== "GET" && headers["X-CSRFToken"] !== context.serverToken)
      answer = { status: 403, body: { error: "csrf", code: "forbidden" } };
    answer ??= plugin.handle(method, path.slice("/convolabel/api/".length), body && JSON.parse(body));
    return new Response(JSON.stringify(answer.body), { status: answer.status });
  };
  context.storage = new Map();
  const storage = {
    get length() {
      return context.storage.size;
    },
    key: (i) => [...context.storage.keys()][i],
    getItem: (key) => context.storage.get(key) ?? null,
    setItem: (key, value) => context.storage.set(key, value),
    removeItem: (key) => context.storage.delete(key),
  };
  context.room = new Workroom({
    api: new Api({ fetch, readToken: () => context.token }),
    storage,
    prefs: new Prefs(storage),
    client: "me",
    next,
    now: () => context.time,
    wallNow: () => context.time,
    random: () => 0.5,
    setTimer: setTimeout,
    clearTimer: clearTimeout,
    online: () => true,
    visible: () => true,
  });
  context.coding = await context.room.open(1);
  return context;
}

test("a conversation from the first key to the finish", async () => {
  const { coding, plugin } = await open();
  for (const key of ["1", "2"]) coding.run({ type: "choose", key });
  await turns();
  assert.equal(coding.session.current.span_id, "c-1-0");
  coding.run({ type: "unsure" });
  await coding.finish(); // not everything is saved yet: it finishes when it is
  await turns(20);
  assert.equal(coding.stage, "all_done");
  assert.equal(plugin.submitted[1], true);
  assert.deepEqual(
    Object.values(plugin.states[1]).map(({ labels }) => labels.intent),
    ["Q", "R", "unsure"],
  );
});

test("finish before everything is decided does nothing", async () => {
  const { coding, asked } = await open();
  await coding.finish();
  assert.deepEqual([coding.stage, asked.filter((line) => line.endsWith("finish"))], ["coding", []]);
});

test("the time of each unit goes with its decision", async () => {
  const context = await open();
  context.time = 1500;
  context.coding.run({ type: "choose", key: "1" });
  context.time = 1900;
  context.room.setVisible(false);
  context.time = 60_000;
  context.room.setVisible(true);
  context.coding.run({ type: "choose", key: "1" });
  await turns();
  assert.deepEqual(
    context.plugin.log.map(({ ms }) => ms),
    [1500, 400],
  );
});

test("a note is saved when the unit is left, without deciding it, and again not when nothing changed", async () => {
  const { coding, plugin } = await open();
  coding.typeNote("3 Fragen");
  coding.run({ type: "next" });
  coding.run({ type: "back" });
  await turns();
  assert.deepEqual(
    plugin.log.map(({ span_id, labels, note }) => [span_id, labels, note]),
    [["c-0-0", {}, "3 Fragen"]],
  );
});

test("hiding the tab saves the note", async () => {
  const { coding, plugin, room } = await open();
  coding.typeNote("halb");
  room.setVisible(false);
  await turns();
  assert.equal(plugin.state(1, "c-0-0").note, "halb");
});

test("unsaved choices of an earlier load are shown at once and sent", async () => {
  const context = await open();
  const write = {
    task: 1,
    span_id: "c-0-0",
    rev: 1,
    labels: { intent: "A" },
    note: "n",
    base: 0,
    ms: 5,
    copilot: { shown: true, accepted: false },
    client: "old",
    seq: 4,
    at: 1,
    sent: true,
  };
  const plugin = new FakePlugin({ 1: conversation([["Eins.", "Zwei."]]) });
  context.storage.set("convolabel:unsaved:7:1:c-0-0:1:old", JSON.stringify([write]));
  const fetch = async (path, { method, body }) => {
    const { status, body: answer } = plugin.handle(
      method,
      path.slice("/convolabel/api/".length),
      body && JSON.parse(body),
    );
    return new Response(JSON.stringify(answer), { status });
  };
  const storage = {
    get length() {
      return context.storage.size;
    },
    key: (i) => [...context.storage.keys()][i],
    getItem: (key) => context.storage.get(key) ?? null,
    setItem: (key, value) => context.storage.set(key, value),
    removeItem: (key) => context.storage.delete(key),
  };
  const room = new Workroom({
    api: new Api({ fetch, readToken: () => "" }),
    storage,
    prefs: new Prefs(storage),
    client: "new",
    next: async () => false,
    now: () => 0,
    wallNow: () => 0,
    random: () => 0,
    setTimer: setTimeout,
    clearTimer: clearTimeout,
    online: () => true,
    visible: () => true,
  });
  const coding = await room.open(1);
  assert.deepEqual([coding.session.units[0].labels, coding.session.current.span_id], [{ intent: "A" }, "c-0-1"]);
  await turns();
  assert.deepEqual(
    plugin.log.map(({ client, seq }) => [client, seq]),
    [["old", 4]],
  );
  assert.equal(coding.save.status.state, "saved");
});

test("a conflict shows the server's state and names what was not taken", async () => {
  const { coding, plugin } = await open();
  Object.assign(plugin.state(1, "c-0-0"), {
    labels: { intent: "R" },
    note: "",
    version: 1,
    last: { client: "tab", seq: 1 },
  });
  coding.run({ type: "choose", key: "1" });
  await turns();
  assert.deepEqual(coding.session.unit("c-0-0").labels, { intent: "R" });
  assert.equal(coding.notices.length, 1);
  assert.match(coding.notices[0], /“Eins.”; your choice: Question/);
});

test("units split meanwhile: the fresh conversation and a word about the lost choice", async () => {
  const { coding, plugin } = await open();
  plugin.conversations[1].spans.splice(
    0,
    1,
    { span_id: "c-0-0+a", rev: 1, message: 0, start: 0, end: 2 },
    { span_id: "c-0-0+b", rev: 1, message: 0, start: 2, end: 5 },
  );
  coding.run({ type: "choose", key: "1" });
  await turns();
  assert.deepEqual(
    coding.session.units.map(({ text }) => text),
    ["Ei", "ns.", "Zwei."],
  );
  assert.match(coding.notices[0], /no longer applies/);
  assert.equal(coding.save.status.state, "saved");
});

test("somebody else signed in meanwhile: nothing is written into their account", async () => {
  const context = await open();
  Object.assign(context, { token: "t2", serverToken: "t2" });
  context.plugin.rater = 8;
  context.coding.run({ type: "choose", key: "1" });
  await turns();
  assert.deepEqual([context.coding.save.status.reason, context.plugin.log], ["signed_out", []]);
  context.plugin.rater = 7;
  await context.room.retry();
  await turns();
  assert.equal(context.plugin.log.length, 1);
});

test("a renewed session of the same rater goes on by itself", async () => {
  const context = await open();
  Object.assign(context, { token: "t2", serverToken: "t2" });
  context.coding.run({ type: "choose", key: "1" });
  await turns();
  assert.equal(context.coding.save.status.state, "saved");
});

test("finish that the server refuses tells so and fetches the truth", async () => {
  const { coding, plugin } = await open({ texts: [["Eins."]] });
  coding.run({ type: "choose", key: "1" });
  await turns();
  plugin.state(1, "c-0-0").labels = {};
  await coding.finish();
  await turns();
  assert.equal(coding.stage, "coding");
  assert.match(coding.notices[0], /not every unit is decided/);
  assert.equal(coding.session.complete, false);
});

test("suggestions are asked once per unit, for the current one and the next", async () => {
  const { coding, asked } = await open({ texts: [["Eins.", "Zwei.", "Drei."]] });
  const about = () => asked.filter((line) => line.endsWith("suggestion")).map((line) => line.match(/c-\d-\d/)[0]);
  await pause(60);
  assert.deepEqual(about(), ["c-0-0", "c-0-1"]);
  coding.run({ type: "next" });
  await pause(60);
  coding.run({ type: "back" });
  await pause(60);
  assert.deepEqual(about(), ["c-0-0", "c-0-1", "c-0-2"]);
});

test("accepting by key takes the suggestion for the dimension in focus", async () => {
  const { coding, plugin } = await open();
  plugin.conversations[1].suggestions["c-0-1"] = [
    { label: "A", dimension: "intent", rationale: "", confidence: "high", evidence: null },
  ];
  assert.equal(coding.run({ type: "accept" }), false); // none for the first unit
  coding.run({ type: "next" });
  await pause(60);
  coding.session.markShown(coding.session.current);
  coding.run({ type: "accept" });
  await turns();
  assert.deepEqual(
    plugin.log.map(({ labels, copilot }) => [labels, copilot]),
    [[{ intent: "A" }, { shown: true, accepted: true }]],
  );
});

test("a failed suggestion looks like none and is asked again on the next visit", async () => {
  let failing = true;
  const arrived = [];
  const suggestions = new Suggestions({
    fetch: async () => {
      if (failing) throw new ApiError("server", "500");
      return { suggestions: [{ label: "Q" }] };
    },
    arrived: (unit) => arrived.push(unit.span_id),
  });
  const unit = { span_id: "x", rev: 1 };
  await suggestions.want(unit);
  assert.deepEqual(suggestions.of(unit), []);
  failing = false;
  await suggestions.want(unit);
  assert.deepEqual([suggestions.of(unit), arrived], [[{ label: "Q" }], ["x"]]);
  assert.deepEqual(suggestions.of({ span_id: "x", rev: 2 }), []); // another revision is another unit
});
