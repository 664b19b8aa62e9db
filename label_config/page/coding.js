/**
 * One conversation being coded: joins the session, the save queue, the clock and the suggestions, and tells the view
 * what changed. It lives outside the DOM, so that Label Studio may replace the page's DOM at any time.
 */

import { Session, UNSURE, unitKey } from "./session.js";
import { Suggestions } from "./suggestions.js";

const NOTE_PAUSE = 800;
/** Units somebody rushes through are not asked for, and the key press itself stays free of it. */
const ASK_PAUSE = 30;

const quoted = (text) => `“${text.length > 40 ? `${text.slice(0, 39)}…` : text}”`;

export class Coding {
  /** Called with {units, messages, moved, all}: what the view has to bring up to date beside the panel. */
  onChange = () => {};
  notices = [];
  /** "coding" | "finishing" (waits for the queue) | "sending" | "finished" | "all_done" */
  stage = "coding";
  #noteTimer = null;
  #noteUnit = null;
  #askTimer = null;
  #put;

  /**
   * `reply`: of `GET tasks/{task}`. `save`: {put(state), unsaved(task), isIdle(task), status}, the queue.
   * `next() -> Promise<boolean>` opens the next conversation and answers whether there was one;
   * `isStillRater() -> Promise<boolean>` whether the browser is (again) signed in as the same rater.
   */
  constructor({ reply, api, save, clock, autoAdvance, next, isStillRater }) {
    this.session = new Session(reply, { autoAdvance });
    this.task = reply.task;
    this.api = api;
    this.save = save;
    this.clock = clock;
    this.next = next;
    this.isStillRater = isStillRater;
    this.#put = (unit) =>
      save.put({
        task: this.task,
        span_id: unit.span_id,
        rev: unit.rev,
        labels: unit.labels,
        note: unit.note,
        version: unit.version,
        ms: clock.take(unitKey(unit)),
        copilot: { shown: unit.shown, accepted: unit.acceptedIn !== null },
      });
    this.suggestions = new Suggestions({
      fetch: (unit) => api.suggestion(this.task, unit),
      arrived: (unit) => unit === this.session.current && this.#tell(),
    });
    this.#overlayUnsaved();
    this.#entered();
  }

  #tell(change = {}) {
    this.onChange({ units: [], messages: [], moved: false, all: false, ...change });
  }

  #overlayUnsaved() {
    for (const write of this.save.unsaved(this.task)) {
      const unit = this.session.unit(write.span_id);
      if (!unit || unit.rev !== write.rev) continue;
      this.session.setUnit(unit, write);
      unit.shown ||= write.copilot?.shown === true;
    }
    const { session } = this;
    if (session.current && session.isDecided(session.current)) session.goTo(session.nextUndecided() ?? session.current);
  }

  #entered() {
    const { session } = this;
    this.clock.enter(session.current && unitKey(session.current));
    if (!session.copilot || !session.current) return;
    clearTimeout(this.#askTimer);
    this.#askTimer = setTimeout(() => this.#askForSuggestions(), ASK_PAUSE);
  }

  #askForSuggestions() {
    const ahead = this.session.nextUndecided();
    this.suggestions.want(this.session.current);
    if (ahead) this.suggestions.want(ahead);
  }

  get suggestion() {
    const { copilot, current } = this.session;
    return copilot && current ? this.suggestions.of(current) : [];
  }

  /** Which suggestion the accept key takes: the first one for the dimension that has the focus (-1: none). */
  get primary() {
    return this.suggestion.findIndex(
      (suggestion) => this.session.suggestionDimension(suggestion)?.id === this.session.dimension,
    );
  }

  // --- what a rater does

  /** Run a command of `keyCommand`. Answers false when it meant nothing here. */
  run(command) {
    const { session } = this;
    if (!session.current) return false;
    switch (command.type) {
      case "choose": {
        const category = session.focusedDimension.categories.find(({ key }) => key === command.key);
        return category ? this.choose(session.dimension, category.id) : false;
      }
      case "unsure":
        return this.choose(session.dimension, UNSURE);
      case "accept":
        return this.accept(this.primary);
      case "advance":
        return this.#move(() => session.advance());
      case "back":
      case "previous":
        return this.#move(() => session.step(-1));
      case "next":
        return this.#move(() => session.step(1));
      case "dimension-left":
        return this.focusDimension(-1);
      case "dimension-right":
        return this.focusDimension(1);
      default:
        return false;
    }
  }

  choose(dimension, category) {
    return this.#decide(() => {
      this.session.dimension = dimension;
      return this.session.choose(dimension, category);
    });
  }

  accept(index) {
    const suggestion = this.suggestion[index];
    return suggestion ? this.#decide(() => this.session.accept(suggestion)) : false;
  }

  #decide(change) {
    if (this.stage !== "coding") return false;
    this.flushNote();
    const outcome = change();
    if (!outcome) return false;
    this.#put(outcome.unit);
    if (outcome.advanced) this.#entered();
    this.#tell({ units: [outcome.unit], moved: outcome.advanced });
    return true;
  }

  goTo(spanId) {
    const unit = this.session.unit(spanId);
    return unit ? this.#move(() => this.session.goTo(unit)) : false;
  }

  #move(step) {
    this.flushNote();
    const before = this.session.current;
    step();
    const moved = this.session.current !== before;
    if (moved) this.#entered();
    this.#tell({ moved });
    return true;
  }

  focusDimension(step) {
    if (this.session.dimensions.length < 2) return false;
    this.session.focusDimension(step);
    this.#tell();
    return true;
  }

  setAutoAdvance(on) {
    this.session.autoAdvance = on;
    this.#tell();
  }

  /** The note as typed so far; it is saved after a pause, and when the field or the unit is left. */
  typeNote(text) {
    const unit = this.session.current;
    if (!this.session.setNote(unit, text)) return;
    this.#noteUnit = unit;
    clearTimeout(this.#noteTimer);
    this.#noteTimer = setTimeout(() => this.flushNote(), NOTE_PAUSE);
  }

  flushNote() {
    clearTimeout(this.#noteTimer);
    const unit = this.#noteUnit;
    this.#noteUnit = null;
    if (!unit) return;
    this.#put(unit);
    this.#tell();
  }

  /** Finish as soon as everything is saved, then open the next conversation. */
  async finish() {
    this.flushNote();
    if (this.stage !== "coding" || !this.session.complete) return;
    this.#enter("finishing");
    await this.#finishWhenSaved();
  }

  async #finishWhenSaved() {
    if (this.stage !== "finishing" || !this.save.isIdle(this.task)) return;
    this.#enter("sending");
    try {
      if (!this.session.submitted) await this.#sendFinish();
    } catch (error) {
      this.#enter("coding");
      if (!("kind" in error)) throw error;
      this.say(`This conversation is not finished yet: ${error.message}`);
      if (error.kind === "unfinished") await this.refetch();
      return;
    }
    this.session.submitted = true;
    this.#enter("finished");
    this.#enter((await this.next()) ? "finished" : "all_done");
  }

  async #sendFinish() {
    try {
      await this.api.finish(this.task);
    } catch (error) {
      if (error.kind !== "signed_out" || !(await this.isStillRater())) throw error;
      await this.api.finish(this.task);
    }
  }

  /** Back from the finished card to the decisions. */
  revise() {
    this.#enter("coding");
  }

  #enter(stage) {
    this.stage = stage;
    this.clock.enter(stage === "coding" && this.session.current ? unitKey(this.session.current) : null);
    this.#tell();
  }

  /** The conversation is shown again after another one was; meanwhile it may have changed elsewhere. */
  async reopen() {
    this.stage = "coding";
    await this.refetch();
  }

  // --- what the server says

  saved(write, reply, last) {
    const { session } = this;
    const unit = session.unit(write.span_id);
    if (unit && unit.rev === reply.unit.rev) {
      unit.version = reply.unit.version;
      if (last && this.#noteUnit !== unit && !sameState(unit, reply.unit)) session.setUnit(unit, reply.unit);
    }
    const before = session.current;
    const fresh = session.reveal(reply);
    const moved = session.current !== before;
    if (moved || fresh.units.length > 0) this.#entered();
    this.#tell({ units: unit ? [unit] : [], messages: fresh.messages, moved });
  }

  conflict(write, current) {
    const { session } = this;
    const unit = session.unit(write.span_id);
    const same = sameState(write, current);
    if (unit && unit.rev === current.rev) session.setUnit(unit, current);
    if (!same)
      this.say(`This unit was changed elsewhere (in another tab?); its state there is shown now. ${this.#lost(write)}`);
    this.#tell({ units: unit ? [unit] : [] });
    // what was decided elsewhere may have brought further messages into view
    this.refetch();
  }

  async stale(writes) {
    writes.forEach((write) =>
      this.say(`A choice no longer applies because the units of this conversation were changed. ${this.#lost(write)}`),
    );
    await this.refetch();
  }

  #lost(write) {
    const unit = this.session.unit(write.span_id);
    const labels = Object.entries(write.labels).map(([dimension, label]) => this.session.labelName(dimension, label));
    const parts = [
      unit && `Unit: ${quoted(unit.text)}`,
      `your choice: ${labels.join(", ") || "none"}`,
      write.note && `your note: “${write.note}”`,
    ];
    return `${parts.filter(Boolean).join("; ")}.`;
  }

  /** Adopt the server's state of the whole conversation, with the unsaved choices on top. */
  async refetch() {
    try {
      this.session.adopt(await this.api.task(this.task));
    } catch (error) {
      if (!("kind" in error)) throw error;
      this.say(`The conversation could not be refreshed: ${error.message}`);
      return;
    }
    this.#overlayUnsaved();
    this.#entered();
    this.#tell({ all: true, moved: true });
  }

  saveChanged() {
    this.#tell();
    this.#finishWhenSaved();
  }

  say(text) {
    if (!this.notices.includes(text)) this.notices.push(text);
    this.#tell();
  }

  dismiss(text) {
    this.notices = this.notices.filter((notice) => notice !== text);
    this.#tell();
  }
}

function sameState(a, b) {
  const entries = (labels) => JSON.stringify(Object.entries(labels).sort());
  return entries(a.labels) === entries(b.labels) && a.note === b.note;
}
