/** Key press -> command. Pure: it reads an event and where the focus is, and decides nothing about the page's state. */

const MOVES = {
  ArrowUp: "previous",
  ArrowDown: "next",
  Backspace: "back",
  ArrowLeft: "dimension-left",
  ArrowRight: "dimension-right",
};
const LETTERS = { a: "accept", n: "note" };

/**
 * The character a key stands for, whatever the keyboard: the digit row of a layout that needs Shift for digits
 * (AZERTY) and letters of a layout without Latin letters (Cyrillic) go by the key's position.
 */
function character(event) {
  const { key, code = "" } = event;
  if (/^Numpad\d$/.test(code)) return code.slice(6); // with NumLock off, too
  if (key.length !== 1) return key;
  if (/^[0-9a-z?]$/i.test(key)) return key.toLowerCase();
  if (!event.shiftKey && /^Digit\d$/.test(code)) return code.slice(5);
  if (key > "\u024f" && /^Key[A-Z]$/.test(code)) return code.slice(3).toLowerCase();
  return key;
}

/**
 * The command of a key press, or null when the key is not ours.
 *
 * `focus`: where the press lands. "page": nothing that takes keys itself; "control": a button, which keeps Enter and
 * Space; "text": a field one types in; "dialog": the key help is open.
 * `categoryKeys`: the keys of the dimension that has the focus (a Set). They win over every letter but the reserved.
 * Commands: {type: "choose", key} | {type: "unsure" | "advance" | "accept" | "note" | "help" | "leave" | "finish"} |
 * {type: a move}.
 */
export function keyCommand(event, { focus = "page", categoryKeys = new Set() } = {}) {
  if (event.isComposing || event.keyCode === 229) return null;
  if (event.altKey) return null;
  if (event.ctrlKey || event.metaKey) {
    return event.key === "Enter" && !event.shiftKey && !event.repeat && focus !== "dialog" ? { type: "finish" } : null;
  }
  if (event.key === "Escape") return { type: "leave" };
  if (focus === "text" || focus === "dialog") return null;
  if (event.key === "Enter") return focus === "control" || event.repeat ? null : { type: "advance" };
  const char = character(event);
  if (char in MOVES) return { type: MOVES[char] };
  if (event.repeat) return null;
  if (char === "0") return { type: "unsure" };
  if (char === "?") return { type: "help" };
  if (char in LETTERS) return { type: LETTERS[char] };
  return categoryKeys.has(char) ? { type: "choose", key: char } : null;
}

/** Where a key press lands, from the innermost element it was aimed at. */
export function focusKind(element) {
  if (!element || !element.tagName) return "page";
  const tag = element.tagName.toLowerCase();
  if (element.isContentEditable || tag === "textarea" || tag === "select") return "text";
  // of all keys a switch wants only Space, which is never ours
  if (tag === "input" && ["checkbox", "radio"].includes(element.type)) return "page";
  if (tag === "input") return ["button", "submit"].includes(element.type) ? "control" : "text";
  return tag === "button" || tag === "summary" || tag === "a" ? "control" : "page";
}
