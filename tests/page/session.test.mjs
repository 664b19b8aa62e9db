import assert from "node:assert/strict";
import { test } from "node:test";
import { Session, UNSURE } from "../../label_config/page/session.js";
import { CODEBOOK, FakePlugin, conversation } from "./fake_plugin.mjs";

const TWO = {
  title: "Two",
  dimensions: [
    { ...CODEBOOK.dimensions[0], id: "form", title: "Form" },
    { ...CODEBOOK.dimensions[0], id: "intent", title: "Intent" },
  ],
};

function make({
  texts = [[null, "Ich schlafe nicht."], ["Eins 👍🏽.", "Zwei."], ["Drei."]],
  codebook = CODEBOOK,
  hideFuture = true,
  ...options
} = {}) {
  const plugin = new FakePlugin({ 1: conversation(texts, codebook) }, { hideFuture });
  return { plugin, session: new Session(plugin.task(1), options) };
}

/** What the server answers to the session's present state of `unit`. */
function reply(plugin, unit) {
  const { rev, labels, note, version } = unit;
  return plugin.handle("PUT", `tasks/1/units/${unit.span_id}`, {
    rev,
    labels,
    note,
    base: version,
    client: `c${unit.version}`,
    seq: 1,
  }).body;
}

test("starts at the first undecided unit, with texts cut by code points", () => {
  const { session } = make();
  assert.equal(session.current.span_id, "c-1-0");
  assert.deepEqual(
    session.units.map(({ text }) => text),
    ["Eins 👍🏽.", "Zwei."],
  );
  assert.deepEqual(session.progress, { decided: 0, total: 3 });
});

test("choosing decides and advances to the next undecided unit", () => {
  const { session } = make();
  const { unit, cleared, advanced } = session.choose("intent", "Q");
  assert.deepEqual([unit.labels, cleared, advanced], [{ intent: "Q" }, false, true]);
  assert.equal(session.current.span_id, "c-1-1");
  assert.deepEqual(session.progress, { decided: 1, total: 3 });
});

test("choosing the chosen category takes it back and stays", () => {
  const { session } = make();
  session.choose("intent", "Q");
  session.step(-1);
  const { unit, cleared, advanced } = session.choose("intent", "Q");
  assert.deepEqual([unit.labels, cleared, advanced], [{}, true, false]);
  assert.equal(session.current.span_id, "c-1-0");
});

test("without auto-advance Enter goes on", () => {
  const { session } = make({ autoAdvance: false });
  assert.equal(session.choose("intent", UNSURE).advanced, false);
  assert.equal(session.current.span_id, "c-1-0");
  session.advance();
  assert.equal(session.current.span_id, "c-1-1");
});

test("the last decision of a message waits for what the server brings, then goes there", () => {
  const { plugin, session } = make();
  reply(plugin, session.choose("intent", "Q").unit);
  const { unit, advanced } = session.choose("intent", "R");
  assert.equal(advanced, false);
  assert.equal(session.current, unit);
  const fresh = session.reveal(reply(plugin, unit));
  assert.deepEqual([fresh.advanced, session.current.span_id, session.moreMessages], [true, "c-2-0", false]);
  assert.deepEqual(
    fresh.messages.map(({ index }) => index),
    [2],
  );
});

test("whoever moves meanwhile is not pulled away by what arrives", () => {
  const { plugin, session } = make();
  reply(plugin, session.choose("intent", "Q").unit);
  const { unit } = session.choose("intent", "R");
  session.step(-1);
  session.reveal(reply(plugin, unit));
  assert.equal(session.current.span_id, "c-1-0");
});

test("a repeated reply brings nothing twice", () => {
  const { plugin, session } = make();
  reply(plugin, session.choose("intent", "Q").unit);
  const answer = reply(plugin, session.choose("intent", "R").unit);
  session.reveal(answer);
  const again = session.reveal(answer);
  assert.deepEqual([again.messages, again.units, session.messages.length, session.units.length], [[], [], 3, 3]);
});

test("complete only when everything is decided and nothing follows", () => {
  const { plugin, session } = make();
  for (let i = 0; i < 3; i += 1) {
    assert.equal(session.complete, false);
    session.reveal(reply(plugin, session.choose("intent", "Q").unit));
  }
  assert.equal(session.complete, true);
  session.choose("intent", "Q");
  assert.equal(session.complete, false);
});

test("stepping back and revising returns to the next undecided unit", () => {
  const { session } = make({ texts: [["Eins.", "Zwei.", "Drei.", "Vier."]] });
  session.choose("intent", "Q");
  session.choose("intent", "Q");
  session.step(-1);
  session.step(-1);
  assert.equal(session.current.span_id, "c-0-0");
  assert.equal(session.step(-1), false);
  session.choose("intent", "R");
  assert.equal(session.current.span_id, "c-0-2");
});

test("after the end the search for undecided units starts over at the top", () => {
  const { session } = make({ texts: [["Eins.", "Zwei.", "Drei."]] });
  session.step(2);
  session.choose("intent", "Q");
  assert.equal(session.current.span_id, "c-0-0");
});

test("several dimensions: keys go to the first unanswered one, and the unit counts when all are answered", () => {
  const { session } = make({ codebook: TWO });
  assert.equal(session.dimension, "form");
  assert.equal(session.choose("form", "Q").advanced, false);
  assert.equal(session.dimension, "intent");
  assert.equal(session.progress.decided, 0);
  assert.deepEqual(session.chip(session.current), { short: "Q + …", long: "Form: Question" });
  assert.equal(session.choose("intent", UNSURE).advanced, true);
  assert.deepEqual(session.chip(session.units[0]), { short: "Q + ?", long: "Form: Question, Intent: Unsure" });
  assert.equal(session.progress.decided, 1);
});

test("several dimensions: the focus moves by hand and stops at the ends", () => {
  const { session } = make({ codebook: TWO });
  session.focusDimension(1);
  session.focusDimension(1);
  assert.equal(session.dimension, "intent");
  session.focusDimension(-1);
  assert.equal(session.dimension, "form");
});

test("accepting labels the named dimension; another choice there ends the acceptance", () => {
  const { session } = make({ autoAdvance: false });
  const { unit } = session.accept({ label: "R", dimension: "intent" });
  assert.deepEqual([unit.labels, unit.acceptedIn], [{ intent: "R" }, "intent"]);
  session.choose("intent", "Q");
  assert.equal(unit.acceptedIn, null);
  assert.equal(session.accept({ label: "no-such" }), null);
  assert.equal(session.accept({ label: "R", dimension: "other" }), null);
});

test("a suggestion is shown only before the first decision, and stays shown", () => {
  const { session } = make({ autoAdvance: false });
  const unit = session.current;
  session.choose("intent", "Q");
  session.markShown(unit);
  assert.equal(unit.shown, false);
  session.choose("intent", "Q"); // taken back: the first decision was made all the same
  session.markShown(unit);
  assert.equal(unit.shown, false);
  const other = session.units[1];
  session.markShown(other);
  session.goTo(other);
  session.choose("intent", "R");
  assert.equal(other.shown, true);
});

test("a note alone neither decides nor advances, and is limited", () => {
  const { session } = make();
  assert.equal(session.setNote(session.current, "x".repeat(3000)), true);
  assert.equal(session.current.note.length, 2000);
  assert.equal(session.setNote(session.current, session.current.note), false);
  assert.deepEqual([session.progress.decided, session.current.span_id], [0, "c-1-0"]);
});

test("adopting a fresh reply keeps the place and what was shown, and forgets units of an older revision", () => {
  const { plugin, session } = make();
  session.step(1);
  session.markShown(session.current);
  session.adopt(plugin.task(1));
  assert.deepEqual([session.current.span_id, session.current.shown], ["c-1-1", true]);
  plugin.conversations[1].spans[1].rev = 2;
  session.adopt(plugin.task(1));
  assert.equal(session.unit("c-1-1").shown, false);
});

test("decided units that are not in sight count in the progress once", () => {
  const { plugin } = make();
  const later = plugin.conversations[1].spans[2];
  plugin.state(1, later.span_id).labels = { intent: "Q" };
  const session = new Session(plugin.task(1));
  assert.deepEqual(session.progress, { decided: 1, total: 3 });
  reply(plugin, session.choose("intent", "Q").unit);
  session.reveal(reply(plugin, session.choose("intent", "Q").unit));
  assert.deepEqual(session.progress, { decided: 3, total: 3 });
  assert.equal(session.complete, true);
});

test("whoever writes a note is not pulled away by what arrives", () => {
  const { plugin, session } = make();
  reply(plugin, session.choose("intent", "Q").unit);
  const { unit } = session.choose("intent", "R");
  session.stay();
  session.reveal(reply(plugin, unit));
  assert.equal(session.current, unit);
});
