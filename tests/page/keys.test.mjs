import assert from "node:assert/strict";
import { test } from "node:test";
import { focusKind, keyCommand } from "../../label_config/page/keys.js";

const press = (key, more = {}) => ({
  key,
  code: "",
  ctrlKey: false,
  altKey: false,
  metaKey: false,
  shiftKey: false,
  repeat: false,
  isComposing: false,
  ...more,
});
const NINE = new Set("123456789");
const FOURTEEN = new Set("123456789qwert");
const run = (event, options = {}) => keyCommand(event, { categoryKeys: NINE, ...options });

test("digits choose, from the row and from the numpad, with NumLock or without", () => {
  assert.deepEqual(run(press("3", { code: "Digit3" })), { type: "choose", key: "3" });
  assert.deepEqual(run(press("3", { code: "Numpad3" })), { type: "choose", key: "3" });
  assert.deepEqual(run(press("PageDown", { code: "Numpad3" })), { type: "choose", key: "3" });
  assert.deepEqual(run(press("0", { code: "Numpad0" })), { type: "unsure" });
  assert.deepEqual(run(press("é", { code: "Digit2" })), { type: "choose", key: "2" }); // AZERTY without Shift
});

test("fourteen categories: each has its own key, letters too, with caps lock and on a Cyrillic layout", () => {
  const keys = [...FOURTEEN].map((key) => run(press(key), { categoryKeys: FOURTEEN }).key);
  assert.deepEqual(keys, [...FOURTEEN]);
  assert.deepEqual(run(press("Q"), { categoryKeys: FOURTEEN }), { type: "choose", key: "q" });
  assert.deepEqual(run(press("й", { code: "KeyQ" }), { categoryKeys: FOURTEEN }), { type: "choose", key: "q" });
  assert.equal(run(press("q")), null); // no category has it here
});

test("typing a note never labels", () => {
  for (const key of [..."3 Fragen?0an", "Enter", "Backspace", "ArrowUp", "ArrowLeft"])
    assert.equal(run(press(key), { focus: "text" }), null, key);
  assert.deepEqual(run(press("Escape"), { focus: "text" }), { type: "leave" });
  assert.deepEqual(run(press("Enter", { ctrlKey: true }), { focus: "text" }), { type: "finish" });
});

test("modifiers belong to the browser, but for the finish key", () => {
  for (const modifier of ["ctrlKey", "metaKey", "altKey"]) assert.equal(run(press("1", { [modifier]: true })), null);
  assert.deepEqual(run(press("Enter", { metaKey: true })), { type: "finish" });
  assert.equal(run(press("Enter", { altKey: true })), null);
});

test("an input method composing a character is left alone", () => {
  assert.equal(run(press("1", { isComposing: true })), null);
  assert.equal(run(press("Process", { keyCode: 229 })), null);
  assert.equal(run(press("Enter", { isComposing: true, ctrlKey: true })), null);
});

test("a held key chooses once, but moves on", () => {
  for (const key of ["3", "0", "a", "n", "?", "Enter"]) assert.equal(run(press(key, { repeat: true })), null, key);
  assert.deepEqual(run(press("ArrowDown", { repeat: true })), { type: "next" });
  assert.deepEqual(run(press("Backspace", { repeat: true })), { type: "back" });
});

test("moves, note, help, accept", () => {
  const types = Object.fromEntries(
    ["Enter", "Backspace", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "a", "n", "?"].map((key) => [
      key,
      run(press(key)).type,
    ]),
  );
  assert.deepEqual(types, {
    Enter: "advance",
    Backspace: "back",
    ArrowUp: "previous",
    ArrowDown: "next",
    ArrowLeft: "dimension-left",
    ArrowRight: "dimension-right",
    a: "accept",
    n: "note",
    "?": "help",
  });
});

test("a focused button keeps Enter, the open help keeps everything but Escape", () => {
  assert.equal(run(press("Enter"), { focus: "control" }), null);
  assert.deepEqual(run(press("2"), { focus: "control" }), { type: "choose", key: "2" });
  assert.equal(run(press("2"), { focus: "dialog" }), null);
  assert.equal(run(press("Enter", { ctrlKey: true }), { focus: "dialog" }), null);
  assert.deepEqual(run(press("Escape"), { focus: "dialog" }), { type: "leave" });
});

test("where a key lands", () => {
  const element = (tagName, more = {}) => ({ tagName, ...more });
  assert.equal(focusKind(element("TEXTAREA")), "text");
  assert.equal(focusKind(element("INPUT", { type: "text" })), "text");
  assert.equal(focusKind(element("INPUT", { type: "submit" })), "control");
  // Enter after a click on the auto-advance switch still goes on to the next unit
  assert.equal(focusKind(element("INPUT", { type: "checkbox" })), "page");
  assert.equal(focusKind(element("DIV", { isContentEditable: true })), "text");
  assert.equal(focusKind(element("BUTTON")), "control");
  assert.equal(focusKind(element("BODY")), "page");
  assert.equal(focusKind(null), "page");
});
