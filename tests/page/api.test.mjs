import assert from "node:assert/strict";
import { test } from "node:test";
import { Api } from "../../label_config/page/api.js";

const answering = (response) => new Api({ fetch: async () => response, readToken: () => "token" });
const json = (status, body, headers = {}) => new Response(JSON.stringify(body), { status, headers });
const write = {
  task: 1,
  span_id: "a/b",
  rev: 1,
  labels: {},
  note: "",
  base: 0,
  client: "c",
  seq: 1,
  ms: null,
  copilot: {},
  at: 5,
  sent: true,
};

test("each refusal has its kind, and the server's own sentence", async () => {
  const cases = [
    [400, "invalid", "invalid"],
    [401, "forbidden", "signed_out"],
    [403, "forbidden", "signed_out"],
    [404, "not_found", "not_found"],
    [409, "conflict", "conflict"],
    [409, "stale_unit", "stale_unit"],
    [409, "unfinished", "unfinished"],
    [423, "busy", "busy"],
    [500, "x", "server"],
    [503, "x", "server"],
    [429, "x", "server"],
    [418, "x", "refused"],
  ];
  for (const [status, code, kind] of cases) {
    await assert.rejects(answering(json(status, { error: "Sentence.", code })).putUnit(write), {
      kind,
      status,
      message: "Sentence.",
    });
  }
});

test("Retry-After is passed on", async () => {
  await assert.rejects(answering(json(503, { error: "x", code: "x" }, { "Retry-After": "2" })).task(1), {
    retryAfter: 2,
  });
});

test("an answer that is no JSON: a proxy's error page is a server in trouble, a refusal stays one", async () => {
  await assert.rejects(answering(new Response("<html>", { status: 502 })).task(1), { kind: "server" });
  await assert.rejects(answering(new Response("<html>", { status: 200 })).task(1), { kind: "server" });
  await assert.rejects(answering(new Response("<html>", { status: 403 })).task(1), { kind: "signed_out" });
});

test("no network, and a request that takes too long", async () => {
  const api = new Api({
    fetch: async () => {
      throw new TypeError("failed to fetch");
    },
    readToken: () => "",
  });
  await assert.rejects(api.task(1), { kind: "network" });
});

test("the body is the contract's, the token is the one of the page's load, the span id is escaped", async () => {
  const seen = [];
  let cookie = "one";
  const api = new Api({
    fetch: async (path, options) => {
      seen.push([path, options]);
      return json(200, {});
    },
    readToken: () => cookie,
  });
  cookie = "two";
  await api.putUnit(write);
  const [path, { method, headers, body, keepalive }] = seen[0];
  assert.deepEqual(
    [path, method, headers["X-CSRFToken"], keepalive],
    ["/convolabel/api/tasks/1/units/a%2Fb", "PUT", "one", true],
  );
  assert.deepEqual(Object.keys(JSON.parse(body)).sort(), [
    "base",
    "client",
    "copilot",
    "labels",
    "ms",
    "note",
    "rev",
    "seq",
  ]);
  api.renewToken();
  await api.finish(1);
  assert.equal(seen[1][1].headers["X-CSRFToken"], "two");
});
