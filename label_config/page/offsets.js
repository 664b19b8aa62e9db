/**
 * Code points <-> UTF-16, the only place where the two meet.
 *
 * Spans count Unicode code points, `[start, end)`; JavaScript strings count UTF-16 code units. Texts are never
 * normalised: what is cut here is byte for byte what was imported.
 */

const isPair = (text, at) => {
  const high = text.charCodeAt(at);
  if (high < 0xd800 || high > 0xdbff) return false;
  const low = text.charCodeAt(at + 1);
  return low >= 0xdc00 && low <= 0xdfff;
};

/** The UTF-16 offset of each code-point offset in `offsets` (ascending). Throws RangeError beyond the text. */
export function toUtf16(text, offsets) {
  let units = 0;
  let points = 0;
  return offsets.map((offset) => {
    if (!Number.isInteger(offset) || offset < points) throw new RangeError(`offsets must ascend; ${offset} does not`);
    while (points < offset) {
      if (units >= text.length) throw new RangeError(`offset ${offset} lies beyond the text (${points} code points)`);
      units += isPair(text, units) ? 2 : 1;
      points += 1;
    }
    return units;
  });
}

/** How many code points stand before the UTF-16 offset `unit`; inside a pair counts as before it. */
export function toCodePoint(text, unit) {
  let points = 0;
  for (let at = 0; at < unit; points += 1) {
    at += isPair(text, at) ? 2 : 1;
    if (at > unit) return points;
  }
  return points;
}

/** The text of `[start, end)` in code points. */
export function slice(text, start, end) {
  const [from, to] = toUtf16(text, [start, end]);
  return text.slice(from, to);
}

/**
 * The whole text as consecutive pieces `{text, start, end, span}`, `span` being null between spans.
 * `spans` carry `start` and `end`, sorted, without overlap; the pieces joined are the text again.
 */
export function segments(text, spans) {
  const edges = spans.flatMap((span) => [span.start, span.end]);
  const cuts = toUtf16(text, edges);
  const pieces = [];
  let unit = 0;
  let point = 0;
  spans.forEach((span, i) => {
    const [from, to] = [cuts[2 * i], cuts[2 * i + 1]];
    if (from > unit) pieces.push({ text: text.slice(unit, from), start: point, end: span.start, span: null });
    pieces.push({ text: text.slice(from, to), start: span.start, end: span.end, span });
    [unit, point] = [to, span.end];
  });
  if (unit < text.length) {
    const rest = text.slice(unit);
    pieces.push({ text: rest, start: point, end: point + toCodePoint(rest, rest.length), span: null });
  }
  return pieces;
}

/** The pieces of `piece` (from `segments`) inside and outside of `range`: `{text, marked}`. */
export function marked(piece, range) {
  const start = Math.max(piece.start, range.start);
  const end = Math.min(piece.end, range.end);
  if (start >= end) return [{ text: piece.text, marked: false }];
  const inside = { start: start - piece.start, end: end - piece.start };
  return segments(piece.text, [inside]).map(({ text, span }) => ({ text, marked: span !== null }));
}
