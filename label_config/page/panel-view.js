/** The decision panel: what is to be decided, the suggestion, the categories, the note, and how things stand. */

import { el, setAttribute, setText } from "./dom.js";
import { saveSentence } from "./save-sentence.js";
import { NOTE_LIMIT, UNSURE } from "./session.js";
import { SuggestionCard } from "./suggestion-card.js";

/** Beyond this many buttons a single column no longer fits one screen. */
const ONE_COLUMN = 11;

export class PanelView {
  #session;
  #actions;
  #categories = []; // {button, dimension, category}
  #fieldsets = new Map(); // dimension id -> element
  #noteUnit = null;

  /**
   * `actions`: {choose(dimension, category), accept(index), enterNote(), typeNote(text), leaveNote(), autoAdvance(on),
   * definitions(on), finish(), retry(), discard(), help(), previous(), next(), openPrevious(), openNext()}.
   */
  constructor(session, actions, { definitions }) {
    this.#session = session;
    this.#actions = actions;
    this.element = el("aside", { class: "panel", "aria-label": "Decision" }, this.#head(), this.#body(), this.#foot());
    this.showDefinitions(definitions);
  }

  /** The way to conversations coded before; both buttons are there as soon as one of them leads somewhere. */
  showHistory({ previous, next }) {
    for (const [button, leads] of [
      [this.previousConversation, previous],
      [this.nextConversation, next],
    ]) {
      button.hidden = !previous && !next;
      button.disabled = !leads;
    }
  }

  // --- building, once per conversation

  #head() {
    const { conversation, codebookTitle } = this.#session;
    this.progressText = el("span", { class: "progress-text", "data-testid": "progress" });
    this.bar = el("progress", { class: "bar", "aria-label": "Decided units" });
    const { openPrevious, openNext } = this.#actions;
    this.previousConversation = iconButton("‹", "Previous conversation", "previous-conversation", openPrevious);
    this.nextConversation = iconButton("›", "Next conversation", "next-conversation", openNext);
    this.showHistory({ previous: false, next: false });
    return el(
      "header",
      { class: "head" },
      el(
        "div",
        { class: "title" },
        el("h2", { title: codebookTitle }, el("bdi", {}, conversation.label)),
        this.progressText,
        this.previousConversation,
        this.nextConversation,
        iconButton("?", "Keys (?)", "help", this.#actions.help),
      ),
      this.bar,
    );
  }

  #body() {
    this.quote = el("blockquote", { class: "quote", dir: "auto", "data-testid": "unit-text" });
    this.card = this.#session.copilot ? new SuggestionCard(this.#session, this.#actions.accept) : null;
    this.definitionSwitch = el("button", {
      type: "button",
      class: "quiet",
      "data-testid": "definitions",
      onclick: () => this.#actions.definitions(!this.definitions),
    });
    return el(
      "div",
      { class: "body" },
      this.quote,
      this.card?.element,
      ...this.#session.dimensions.map((dimension, index) => this.#dimension(dimension, index)),
      this.#noteField(),
    );
  }

  #dimension(dimension, index) {
    const several = this.#session.dimensions.length > 1;
    const buttons = [
      ...dimension.categories,
      { id: UNSURE, name: "Unsure", key: "0", definition: "You cannot tell which category fits." },
    ];
    const columns = buttons.length > ONE_COLUMN || several ? 2 : 1;
    const list = el(
      "div",
      { class: "categories", "data-columns": columns },
      ...buttons.map((category) => this.#category(dimension, category)),
    );
    const question = dimension.question || dimension.title;
    const fieldset = el(
      "div",
      { class: "dimension", role: "group", "aria-label": question, "data-dimension": dimension.id },
      el(
        "div",
        { class: "question" },
        el("span", {}, several ? el("strong", {}, `${dimension.title} `) : null, question),
        index === 0 ? this.definitionSwitch : null,
      ),
      list,
    );
    this.#fieldsets.set(dimension.id, fieldset);
    return fieldset;
  }

  #category(dimension, category) {
    const button = el(
      "button",
      {
        type: "button",
        class: "category",
        "data-category": category.id,
        "data-dimension": dimension.id,
        "aria-pressed": "false",
        title: category.definition ? `${category.name}: ${category.definition}` : category.name,
        // picking with the mouse must not leave the focus on a button that Enter would press again for the next unit
        onmousedown: (event) => event.preventDefault(),
        onclick: () => this.#actions.choose(dimension.id, category.id),
      },
      el("kbd", {}, (category.key ?? "").toUpperCase()),
      el("span", { class: "name" }, category.name),
      el("span", { class: "definition" }, category.definition ?? ""),
    );
    this.#categories.push({ button, dimension: dimension.id, category: category.id });
    return button;
  }

  #noteField() {
    this.note = el("textarea", {
      class: "note",
      rows: "1",
      maxlength: NOTE_LIMIT,
      placeholder: "Note (N)",
      "aria-label": "Note on this unit",
      "data-testid": "note",
      dir: "auto",
      oninput: () => {
        this.#fitNote();
        this.note.scrollIntoView({ block: "nearest" });
        this.#actions.typeNote(this.note.value);
      },
      onfocus: () => this.#actions.enterNote(),
      onblur: () => this.#actions.leaveNote(),
    });
    return this.note;
  }

  #foot() {
    this.autoAdvance = el("input", {
      type: "checkbox",
      role: "switch",
      "data-testid": "auto-advance",
      onchange: () => this.#actions.autoAdvance(this.autoAdvance.checked),
    });
    this.saveText = el("span", { class: "save-text", "data-testid": "save-state" });
    this.retryButton = el("button", { type: "button", class: "quiet", onclick: this.#actions.retry }, "Try again");
    this.discardButton = el("button", { type: "button", class: "quiet", onclick: this.#actions.discard }, "Discard it");
    this.finishButton = el("button", {
      type: "button",
      class: "finish",
      "data-testid": "finish",
      title: "Ctrl+Enter",
      onclick: this.#actions.finish,
    });
    return el(
      "footer",
      { class: "foot" },
      el(
        "div",
        { class: "save", role: "status" },
        el("i", { class: "dot", "aria-hidden": "true" }),
        this.saveText,
        this.retryButton,
        this.discardButton,
      ),
      el(
        "div",
        { class: "row" },
        el(
          "button",
          {
            type: "button",
            class: "step",
            title: "Previous unit (Backspace or arrow up)",
            "aria-label": "Previous unit",
            onclick: this.#actions.previous,
          },
          "↑",
        ),
        el(
          "button",
          {
            type: "button",
            class: "step",
            title: "Next unit (arrow down)",
            "aria-label": "Next unit",
            onclick: this.#actions.next,
          },
          "↓",
        ),
        el(
          "label",
          { class: "switch", title: "After a decision go on to the next undecided unit" },
          this.autoAdvance,
          el("span", {}, "Auto-advance"),
        ),
        this.finishButton,
      ),
    );
  }

  // --- bringing up to date

  update({ save, suggestion, primary, stage }) {
    const session = this.#session;
    this.#updateUnit(session.current);
    this.card?.update(suggestion, primary);
    this.#updateProgress(session.progress);
    this.#updateSave(save);
    this.#updateFinish(stage);
    this.autoAdvance.checked = session.autoAdvance;
  }

  #updateUnit(unit) {
    setText(this.quote, unit?.text ?? "There is nothing to decide yet.");
    for (const { button, dimension, category } of this.#categories) {
      setAttribute(button, "aria-pressed", String(unit?.labels[dimension] === category));
    }
    const several = this.#fieldsets.size > 1;
    for (const [id, fieldset] of this.#fieldsets)
      setAttribute(fieldset, "data-focused", several && id === this.#session.dimension);
    const sameUnit = this.#noteUnit === unit;
    this.#noteUnit = unit;
    if (!unit || (sameUnit && this.note.getRootNode().activeElement === this.note)) return;
    if (this.note.value !== unit.note) this.note.value = unit.note;
    this.#fitNote();
  }

  #fitNote() {
    setAttribute(
      this.note,
      "rows",
      Math.min(4, Math.max(1, this.note.value.split("\n").length, Math.ceil(this.note.value.length / 52))),
    );
  }

  #updateProgress({ decided, total }) {
    setText(this.progressText, `${decided} of ${total}`);
    Object.assign(this.bar, { max: Math.max(1, total), value: decided });
  }

  #updateSave({ state, count, reason, kept }) {
    setText(this.saveText, saveSentence({ state, count, reason, kept }));
    this.retryButton.hidden = !["retrying", "offline", "error"].includes(state);
    this.discardButton.hidden = !(state === "error" && reason !== "signed_out");
  }

  #updateFinish(stage) {
    const { complete, submitted } = this.#session;
    this.finishButton.disabled = !complete || stage !== "coding";
    const waiting = { finishing: "Saving…", sending: "Finishing…", finished: "Finished" }[stage];
    setText(this.finishButton, waiting ?? (submitted ? "Next conversation" : "Finish"));
  }

  showDefinitions(on) {
    this.definitions = on;
    setAttribute(this.element, "data-definitions", on);
    setAttribute(this.definitionSwitch, "aria-pressed", String(on));
    setText(this.definitionSwitch, on ? "Hide definitions" : "Definitions");
  }
}

function iconButton(sign, name, testId, onclick) {
  const onmousedown = (event) => event.preventDefault();
  return el(
    "button",
    { type: "button", class: "icon", title: name, "aria-label": name, "data-testid": testId, onmousedown, onclick },
    sign,
  );
}
