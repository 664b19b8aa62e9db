/**
 * One rater's work on one conversation as pure state: what is seen, what is decided, which unit is the current one.
 * Nothing here knows the server or the page. `task` everywhere is the reply to `GET tasks/{task}` (docs/plugin-api.md).
 */

import { slice } from "./offsets.js";

export const UNSURE = "unsure";
export const NOTE_LIMIT = 2000;

export class Session {
  constructor(task, { autoAdvance = true } = {}) {
    this.autoAdvance = autoAdvance;
    this.adopt(task);
  }

  /** Take a fresh reply of the server as the whole truth, keeping the place where the rater was. */
  adopt(task) {
    const before = this.units ?? [];
    const at = this.current?.span_id;
    const known = new Map(before.map((unit) => [unitKey(unit), unit]));
    this.task = task.task;
    this.rater = task.rater;
    this.conversation = task.conversation;
    this.dimensions = task.codebook.dimensions;
    this.codebookTitle = task.codebook.title;
    this.copilot = task.copilot;
    this.submitted = task.submitted;
    this.total = task.progress.total;
    this.messages = [];
    this.units = [];
    this.bySpan = null;
    this.moreMessages = task.more_messages;
    this.#take(task.messages, task.units, known);
    this.#decidedUnseen = Math.max(0, task.progress.decided - this.#decidedSeen());
    this.waitingForReveal = false;
    this.current = this.unit(at) ?? this.#firstUndecided() ?? this.units[0] ?? null;
    this.dimension = this.#openDimension(this.current);
  }

  #decidedUnseen = 0;

  #take(messages, units, known = new Map()) {
    if (messages.length === 0 && units.length === 0 && this.bySpan) return { messages, units };
    const seen = new Set(this.messages.map((message) => message.index));
    const fresh = messages.filter((message) => !seen.has(message.index));
    this.messages = [...this.messages, ...fresh].sort((a, b) => a.index - b.index);
    this.byIndex = new Map(this.messages.map((message) => [message.index, message]));
    const have = new Set(this.units.map((unit) => unit.span_id));
    const added = units
      .filter((unit) => !have.has(unit.span_id))
      .map((unit) => ({
        ...unit,
        text: slice(this.byIndex.get(unit.message).text, unit.start, unit.end),
        // a suggestion counts as shown only while no decision was ever made (design, section 8)
        everDecided: this.isDecided(unit) || (known.get(unitKey(unit))?.everDecided ?? false),
        shown: known.get(unitKey(unit))?.shown ?? false,
        acceptedIn: known.get(unitKey(unit))?.acceptedIn ?? null,
      }));
    this.units = [...this.units, ...added].sort((a, b) => a.message - b.message || a.start - b.start);
    this.units.forEach((unit, index) => {
      unit.order = index;
    });
    this.bySpan = new Map(this.units.map((unit) => [unit.span_id, unit]));
    return { messages: fresh, units: added };
  }

  unit(spanId) {
    return this.bySpan.get(spanId) ?? null;
  }

  isDecided(unit) {
    return this.dimensions.every((dimension) => dimension.id in unit.labels);
  }

  get progress() {
    return { decided: this.#decidedSeen() + this.#decidedUnseen, total: this.total };
  }

  /** Whether every unit of the conversation is decided, so that it can be finished. */
  get complete() {
    return !this.moreMessages && this.units.length > 0 && this.units.every((unit) => this.isDecided(unit));
  }

  #decidedSeen() {
    return this.units.reduce((count, unit) => count + this.isDecided(unit), 0);
  }

  #firstUndecided() {
    return this.units.find((unit) => !this.isDecided(unit)) ?? null;
  }

  /** Next undecided unit in reading order after `unit`; starts over at the top; null when all are decided. */
  nextUndecided(unit = this.current) {
    const after = this.units.slice(unit ? unit.order + 1 : 0);
    return (
      after.find((candidate) => !this.isDecided(candidate)) ??
      this.units.find((u) => u !== unit && !this.isDecided(u)) ??
      null
    );
  }

  #openDimension(unit) {
    const open = unit && this.dimensions.find((dimension) => !(dimension.id in unit.labels));
    return (open ?? this.dimensions[0]).id;
  }

  get focusedDimension() {
    return this.dimensions.find((dimension) => dimension.id === this.dimension);
  }

  focusDimension(step) {
    const at = this.dimensions.findIndex((dimension) => dimension.id === this.dimension);
    this.dimension = this.dimensions[Math.min(this.dimensions.length - 1, Math.max(0, at + step))].id;
  }

  /** Make `unit` the current one. Whoever moves by hand no longer waits for the next messages. */
  goTo(unit) {
    this.waitingForReveal = false;
    this.current = unit;
    this.dimension = this.#openDimension(unit);
  }

  /** Remain at the current unit (its note is being written), whatever the server brings. */
  stay() {
    this.waitingForReveal = false;
  }

  step(by) {
    const to = this.current && this.units[this.current.order + by];
    if (to) this.goTo(to);
    return Boolean(to);
  }

  /** Go on to the next undecided unit; when none is in sight, to the one the server brings next. */
  advance() {
    const next = this.nextUndecided();
    if (next) this.goTo(next);
    else if (this.moreMessages) this.waitingForReveal = true;
    else return this.step(1);
    return Boolean(next);
  }

  /**
   * Choose `category` in `dimension` for the current unit; the chosen one again takes it back.
   * Answers {unit, cleared, advanced}.
   */
  choose(dimension, category) {
    const unit = this.current;
    const cleared = unit.labels[dimension] === category;
    const labels = { ...unit.labels };
    if (cleared) delete labels[dimension];
    else labels[dimension] = category;
    if (unit.acceptedIn === dimension) unit.acceptedIn = null;
    return { ...this.#label(unit, labels, dimension), cleared };
  }

  /** Take over a suggested label. Answers null when no dimension has it, else {unit, cleared: false, advanced}. */
  accept(suggestion) {
    const dimension = this.suggestionDimension(suggestion);
    if (!dimension) return null;
    const labels = { ...this.current.labels, [dimension.id]: suggestion.label };
    this.current.acceptedIn = dimension.id;
    return { ...this.#label(this.current, labels, dimension.id), cleared: false };
  }

  /** The dimension a suggestion answers: the one it names, else the first that has its label; null when none has. */
  suggestionDimension({ label, dimension: named }) {
    const fits = ({ id, categories }) =>
      (!named || id === named) && categories.some((category) => category.id === label);
    return this.dimensions.find(fits) ?? null;
  }

  /** Whether a quotation is the current unit, no more and no less. */
  isCurrentUnit({ message, start, end }) {
    const { current } = this;
    return message === current.message && start === current.start && end === current.end;
  }

  #label(unit, labels, dimension) {
    const taken = !(dimension in labels);
    unit.labels = labels;
    unit.everDecided ||= this.isDecided(unit);
    this.waitingForReveal = false;
    if (taken) {
      this.dimension = dimension;
      return { unit, advanced: false };
    }
    if (!this.isDecided(unit)) {
      this.dimension = this.#openDimension(unit);
      return { unit, advanced: false };
    }
    return { unit, advanced: this.autoAdvance && this.#advanceAfterDecision() };
  }

  #advanceAfterDecision() {
    const next = this.nextUndecided();
    if (next) this.goTo(next);
    else this.waitingForReveal = this.moreMessages;
    return Boolean(next);
  }

  setNote(unit, note) {
    const limited = note.slice(0, NOTE_LIMIT);
    if (unit.note === limited) return false;
    unit.note = limited;
    return true;
  }

  /** A suggestion for `unit` is on screen. It counts only before the first decision. */
  markShown(unit) {
    if (!unit.everDecided) unit.shown = true;
  }

  /** Take what an acknowledged write brought into view. Answers {messages, units, advanced}. */
  reveal(reply) {
    this.moreMessages = reply.more_messages;
    this.total = reply.progress.total;
    const fresh = this.#take(reply.messages, reply.units);
    const decided = fresh.units.filter((unit) => this.isDecided(unit)).length;
    this.#decidedUnseen = Math.max(0, this.#decidedUnseen - decided);
    if (this.current === null) this.goTo(this.units[0] ?? null);
    if (!this.waitingForReveal) return { ...fresh, advanced: false };
    return { ...fresh, advanced: this.#advanceAfterDecision() };
  }

  /** Take the server's state of one unit (after a conflict, or from unsaved writes kept in the browser). */
  setUnit(unit, { labels, note, version = unit.version }) {
    Object.assign(unit, { labels: { ...labels }, note, version });
    unit.everDecided ||= this.isDecided(unit);
    if (unit === this.current) this.dimension = this.#openDimension(unit);
  }

  /** The name a label is shown by. */
  labelName(dimensionId, label) {
    if (label === UNSURE) return "Unsure";
    const dimension = this.dimensions.find(({ id }) => id === dimensionId);
    return dimension?.categories.find(({ id }) => id === label)?.name ?? label;
  }

  /** `{short, long}` of a unit's labels, e.g. {short: "Q", long: "Intent: Question"}; null without a label. */
  chip(unit) {
    const given = this.dimensions.filter(({ id }) => id in unit.labels);
    if (given.length === 0) return null;
    const short = ({ id }) => (id in unit.labels ? (unit.labels[id] === UNSURE ? "?" : unit.labels[id]) : "…");
    return {
      short: this.dimensions.map(short).join(" + "),
      long: given.map(({ id, title }) => `${title}: ${this.labelName(id, unit.labels[id])}`).join(", "),
    };
  }
}

/** `(span_id, rev)` names a unit; as one string. */
export function unitKey({ span_id: span, rev }) {
  return `${span}@${rev}`;
}
