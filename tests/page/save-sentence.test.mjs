import assert from "node:assert/strict";
import { test } from "node:test";
import { saveSentence } from "../../label_config/page/save-sentence.js";

const status = (state, more = {}) => ({ state, count: 2, reason: null, kept: true, ...more });

test("each state has its sentence", () => {
  assert.equal(saveSentence(status("saved", { count: 0 })), "Saved");
  assert.equal(saveSentence(status("saving")), "Saving…");
  assert.equal(saveSentence(status("retrying", { count: 1 })), "Not saved yet – retrying (1 choice)");
  assert.equal(saveSentence(status("offline")), "Offline – 2 choices kept here");
  assert.equal(saveSentence(status("error", { reason: "The label is unknown." })), "Not saved: The label is unknown.");
  assert.equal(
    saveSentence(status("error", { reason: "signed_out" })),
    "You are signed out. Sign in again in another tab; your 2 unsaved choices are kept in this browser.",
  );
});

test("never claims that choices are kept when the browser refused to", () => {
  for (const state of ["saving", "retrying", "offline"]) {
    assert.match(saveSentence(status(state, { kept: false })), /keeps nothing/);
    assert.doesNotMatch(saveSentence(status(state, { kept: false })), /kept here/);
  }
  assert.doesNotMatch(saveSentence(status("error", { reason: "signed_out", kept: false })), /kept in/);
});
