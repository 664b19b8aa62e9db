/** The conversation as speech bubbles with its units. A key press touches two units, never the whole conversation. */

import { el, setAttribute, setText } from "./dom.js";
import { marked, segments } from "./offsets.js";

const HUES = 6;

export class ConversationView {
  #session;
  #onPick;
  #voices = new Map(); // speaker -> {side, hue}
  #bodies = new Map(); // message index -> element
  #units = new Map(); // span id -> {mark, chip}
  #current = null;
  #evidence = null;

  constructor({ onPick }) {
    this.#onPick = onPick;
    this.list = el("div", { class: "messages", role: "log", "aria-label": "Conversation", "aria-live": "off" });
    this.more = el("p", { class: "more", "data-testid": "more-messages" });
    this.element = el(
      "div",
      { class: "conversation", tabindex: "-1", onclick: (event) => this.#clicked(event) },
      this.list,
      this.more,
    );
  }

  /** Build everything anew: at the first mount, and when the server's state replaced the local one. */
  render(session) {
    this.#session = session;
    this.#voices.clear();
    this.#bodies.clear();
    this.#units.clear();
    this.#current = null;
    this.#evidence = null;
    this.list.replaceChildren();
    this.append(session.messages);
  }

  append(messages) {
    const byMessage = grouped(this.#session.units);
    const bubbles = messages.map((message) => this.#bubble(message, byMessage.get(message.index) ?? []));
    this.list.append(...bubbles);
  }

  /** Bring label chip and marks of `unit` up to date. */
  refresh(unit) {
    const nodes = this.#units.get(unit.span_id);
    if (!nodes) return;
    const chip = this.#session.chip(unit);
    setAttribute(nodes.mark, "data-decided", this.#session.isDecided(unit));
    setAttribute(nodes.chip, "data-empty", chip === null);
    setText(nodes.chip, chip?.short ?? "");
    setAttribute(nodes.chip, "title", chip?.long ?? "Not decided yet");
    setAttribute(nodes.chip, "aria-label", chip ? ` (${chip.long})` : null);
    setAttribute(nodes.chip, "data-note", unit.note !== "");
  }

  setCurrent(unit) {
    const next = unit && this.#units.get(unit.span_id);
    if (this.#current === next) return;
    if (this.#current) for (const name of ["data-current", "aria-current"]) this.#current.mark.removeAttribute(name);
    this.#current = next;
    if (!next) return;
    next.mark.setAttribute("data-current", "");
    next.mark.setAttribute("aria-current", "true");
    requestAnimationFrame(() => this.#current === next && this.reveal(next.mark));
  }

  /** Scroll only when `node` leaves the comfortable middle: a page that stands still is easier to read. */
  reveal(node, smooth = true) {
    const view = this.element.getBoundingClientRect();
    const box = node.getBoundingClientRect();
    const [top, bottom] = [view.top + view.height * 0.12, view.top + view.height * 0.72];
    if (view.height === 0 || (box.top >= top && box.bottom <= bottom)) return;
    const calm = !smooth || matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.element.scrollTo({
      top: this.element.scrollTop + box.top - view.top - view.height * 0.3,
      behavior: calm ? "auto" : "smooth",
    });
  }

  revealCurrent() {
    if (this.#current) this.reveal(this.#current.mark, false);
  }

  /** Highlight `{message, start, end}` (or nothing: null); only the touched messages are built again. */
  showEvidence(evidence) {
    const before = this.#evidence;
    if (before === evidence) return;
    this.#evidence = evidence;
    for (const index of new Set([before?.message, evidence?.message])) this.#rebuild(index);
  }

  showEnd({ moreMessages, complete, submitted }) {
    const decided = complete && !submitted ? " Everything is decided: finish with Ctrl+Enter." : "";
    setText(
      this.more,
      moreMessages ? "Later messages appear when this message is decided." : `End of the conversation.${decided}`,
    );
    setAttribute(this.more, "data-more", moreMessages);
  }

  #rebuild(index) {
    const body = this.#bodies.get(index);
    if (!body) return;
    const units = this.#session.units.filter((unit) => unit.message === index);
    const current = units.find((unit) => this.#units.get(unit.span_id) === this.#current);
    body.replaceChildren(...this.#pieces(this.#session.byIndex.get(index), units));
    if (!current) return;
    this.#current = this.#units.get(current.span_id);
    this.#current.mark.setAttribute("data-current", "");
    this.#current.mark.setAttribute("aria-current", "true");
  }

  #bubble(message, units) {
    const { side, hue } = this.#voice(message);
    const body = el("div", { class: "text", dir: "auto" }, ...this.#pieces(message, units));
    this.#bodies.set(message.index, body);
    const role = message.mediator ? "AI mediator" : message.role;
    const head = el(
      "div",
      { class: "who" },
      el("bdi", { class: "name" }, message.author),
      role && role !== message.author ? el("bdi", { class: "role" }, role) : null,
      el("span", { class: "number", "aria-hidden": "true" }, String(message.index + 1)),
    );
    return el(
      "article",
      {
        class: "message",
        "data-message": message.index,
        "data-side": side,
        "data-hue": hue,
        "data-mediator": message.mediator,
        "data-context": !message.labelable,
      },
      head,
      el("div", { class: "bubble" }, body),
    );
  }

  #voice({ speaker, mediator }) {
    if (mediator) return { side: "middle", hue: "mediator" };
    if (!this.#voices.has(speaker)) {
      const count = this.#voices.size;
      this.#voices.set(speaker, { side: count % 2 ? "right" : "left", hue: count % HUES });
    }
    return this.#voices.get(speaker);
  }

  #pieces(message, units) {
    return segments(message.text, units).flatMap((piece) =>
      piece.span ? this.#unit(piece) : this.#text(message.index, piece),
    );
  }

  #text(index, piece) {
    const evidence = this.#evidence;
    if (evidence?.message !== index) return [document.createTextNode(piece.text)];
    const part = ({ text, marked: on }) =>
      on ? el("mark", { class: "evidence", title: "Quoted by the suggestion" }, text) : text;
    return marked(piece, evidence).map(part);
  }

  #unit(piece) {
    const unit = piece.span;
    const mark = el(
      "span",
      { class: "unit", "data-span-id": unit.span_id, role: "button", tabindex: "-1" },
      ...this.#text(unit.message, piece),
    );
    const chip = el("span", { class: "chip", "data-chip-for": unit.span_id, role: "img" });
    this.#units.set(unit.span_id, { mark, chip });
    this.refresh(unit);
    return [mark, chip];
  }

  #clicked(event) {
    const target = event.target.closest("[data-span-id], [data-chip-for]");
    // a drag over the text is reading, not picking
    if (target && getSelection().isCollapsed) this.#onPick(target.dataset.spanId ?? target.dataset.chipFor);
  }
}

function grouped(units) {
  const groups = new Map();
  for (const unit of units) {
    if (!groups.has(unit.message)) groups.set(unit.message, []);
    groups.get(unit.message).push(unit);
  }
  return groups;
}
