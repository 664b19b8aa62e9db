import assert from "node:assert/strict";
import { test } from "node:test";
import { marked, segments, slice, toCodePoint, toUtf16 } from "../../label_config/page/offsets.js";

test("code points, not UTF-16: `Was nun?` stands at 18-26 behind an emoji of two code points", () => {
  // "Gut " 4 + thumb 1 + skin tone 1 + " weiter so. " 12 = 18; the two astral code points make it UTF-16 20
  const text = "Gut 👍🏽 weiter so. Was nun?";
  assert.equal(slice(text, 18, 26), "Was nun?");
  assert.deepEqual(toUtf16(text, [4, 6, 18, 26]), [4, 8, 20, 28]);
});

test("CRLF stays two code points", () => {
  assert.equal(slice("Erst das.\r\nDann 😀 dies.", 18, 23), "dies.");
});

test("double spaces stay", () => {
  const text = "A  doppelt.  Ende.";
  assert.equal(slice(text, 13, 18), "Ende.");
  assert.deepEqual(
    segments(text, [
      { start: 0, end: 11 },
      { start: 13, end: 18 },
    ]).map((piece) => piece.text),
    ["A  doppelt.", "  ", "Ende."],
  );
});

test("offsets outside of the text or not ascending are refused", () => {
  assert.throws(() => slice("Ja.", 0, 4), /beyond the text \(3 code points\)/);
  assert.throws(() => toUtf16("Ja.", [2, 1]), RangeError);
  assert.throws(
    () =>
      segments("abcdef", [
        { start: 0, end: 4 },
        { start: 3, end: 5 },
      ]),
    RangeError,
  );
});

const ALPHABET = ["a", " ", "ß", "\r", "\n", "é", "e\u0301", "😀", "👍🏽", "👨‍👩‍👧", "م", "𝒳", "\ud83d", "\udc00"];

/** A small linear congruential generator: the same strings in every run. */
function generator(seed) {
  let state = seed;
  return (below) => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return Math.floor((state / 4294967296) * below);
  };
}

test("for any text and spans the pieces join to the text, and each is what Array.from cuts", () => {
  for (let seed = 1; seed <= 500; seed += 1) {
    const next = generator(seed);
    const text = Array.from({ length: next(30) }, () => ALPHABET[next(ALPHABET.length)]).join("");
    const points = Array.from(text);
    const spans = [];
    for (let at = next(4); at < points.length;) {
      const end = Math.min(points.length, at + 1 + next(5));
      spans.push({ start: at, end });
      at = end + next(3);
    }
    const pieces = segments(text, spans);
    assert.equal(pieces.map((piece) => piece.text).join(""), text);
    for (const piece of pieces) assert.equal(piece.text, points.slice(piece.start, piece.end).join(""));
    assert.deepEqual(
      pieces.filter((piece) => piece.span).map((piece) => piece.span),
      spans,
    );
    points.forEach((_, i) => assert.equal(toCodePoint(text, toUtf16(text, [i])[0]), i));
  }
});

test("an evidence range is cut out of the pieces it touches", () => {
  const [first, gap, second] = segments("😀ab cd", [
    { start: 0, end: 3 },
    { start: 4, end: 6 },
  ]);
  const range = { start: 1, end: 5 };
  assert.deepEqual(marked(first, range), [
    { text: "😀", marked: false },
    { text: "ab", marked: true },
  ]);
  assert.deepEqual(marked(gap, range), [{ text: " ", marked: true }]);
  assert.deepEqual(marked(second, range), [
    { text: "c", marked: true },
    { text: "d", marked: false },
  ]);
  assert.deepEqual(marked(second, { start: 0, end: 3 }), [{ text: "cd", marked: false }]);
});
