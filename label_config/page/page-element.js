/**
 * `<convolabel-page>`: the page of one conversation. It shows a `Coding` and turns keys and clicks into its commands.
 *
 * Shadow DOM, because Label Studio's global CSS resets would leak into the page otherwise, and ours into Label Studio.
 */

import { ConversationView } from "./conversation-view.js";
import { el, setAttribute, setText } from "./dom.js";
import { keyHelp } from "./key-help.js";
import { focusKind, keyCommand } from "./keys.js";
import { NoticeStrip } from "./notice-strip.js";
import { PanelView } from "./panel-view.js";
import { saveSentence } from "./save-sentence.js";
import { watchScheme } from "./scheme.js";

const PASSING = /^(Tab|F\d+|Control|Shift|Alt|Meta|CapsLock|NumLock|ContextMenu|PrintScreen)$/;

export class ConvolabelPage extends HTMLElement {
  #coding = null;
  #environment;
  #view;
  #panel;
  #help;
  #live;
  #notices;
  #done;
  #cardOnScreen = false;
  #lastFocus = null;
  #undo = [];

  /** `environment`: {prefs, retry(), discard(), openPrevious(), openNext(), sheet}. Call once, before the element is put into the page. */
  show(coding, environment) {
    this.#coding = coding;
    this.#environment = environment;
    const root = this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [environment.sheet];
    this.#view = new ConversationView({ onPick: (spanId) => coding.goTo(spanId) });
    this.#panel = new PanelView(coding.session, this.#actions(), {
      definitions: environment.prefs.get("definitions", false),
    });
    this.#help = keyHelp(coding.session);
    this.#notices = new NoticeStrip((text) => coding.dismiss(text));
    this.#live = el("p", { class: "live", "aria-live": "polite", "data-testid": "live" });
    this.#done = el("div", { class: "done", hidden: true, "data-testid": "done" });
    root.append(
      el(
        "div",
        { class: "page" },
        el("main", { class: "reading" }, this.#notices.element, this.#view.element),
        this.#panel.element,
      ),
      this.#done,
      this.#help,
      this.#live,
    );
    setAttribute(this, "data-testid", "convolabel-page");
    setAttribute(this, "data-task", coding.task);
    this.#watchFocus(root);
    coding.onChange = (change) => this.#changed(change);
    this.#changed({ all: true, moved: true, units: [], messages: [] });
  }

  get coding() {
    return this.#coding;
  }

  /** `history`: {previous, next}: whether there is a conversation to go to. */
  showHistory(history) {
    this.#panel.showHistory(history);
  }

  #actions() {
    const coding = this.#coding;
    const { prefs, retry, discard, openPrevious, openNext } = this.#environment;
    return {
      choose: (dimension, category) => coding.choose(dimension, category),
      accept: (index) => coding.accept(index),
      enterNote: () => coding.session.stay(),
      typeNote: (text) => coding.typeNote(text),
      leaveNote: () => coding.flushNote(),
      autoAdvance: (on) => {
        prefs.set("auto-advance", on);
        coding.setAutoAdvance(on);
      },
      definitions: (on) => {
        prefs.set("definitions", on);
        this.#panel.showDefinitions(on);
      },
      finish: () => coding.finish(),
      retry,
      discard,
      openPrevious,
      openNext,
      help: () => this.#openHelp(),
      previous: () => coding.run({ type: "previous" }),
      next: () => coding.run({ type: "next" }),
    };
  }

  // --- life in Label Studio's DOM

  connectedCallback() {
    const onKey = (event) => this.#onKey(event);
    const onVisible = () => this.#noteShown();
    const card = new IntersectionObserver(
      ([entry]) => {
        this.#cardOnScreen = entry.isIntersecting;
        this.#noteShown();
      },
      { threshold: 0.5 },
    );
    addEventListener("keydown", onKey, { capture: true });
    document.addEventListener("visibilitychange", onVisible);
    if (this.#panel.card) card.observe(this.#panel.card.element);
    const unwatch = watchScheme((scheme) => setAttribute(this, "data-scheme", scheme));
    this.#undo = [
      () => removeEventListener("keydown", onKey, { capture: true }),
      unwatch,
      () => card.disconnect(),
      () => document.removeEventListener("visibilitychange", onVisible),
    ];
    this.#view.revealCurrent();
    this.#lastFocus?.focus({ preventScroll: true });
  }

  disconnectedCallback() {
    this.#undo.forEach((undo) => undo());
    this.#undo = [];
    this.#cardOnScreen = false;
  }

  /** Label Studio may take the page out and put it back; the focus (a note being typed) comes back with it. */
  #watchFocus(root) {
    root.addEventListener("focusin", (event) => {
      this.#lastFocus = event.target;
    });
    root.addEventListener("focusout", () =>
      queueMicrotask(() => {
        if (this.isConnected) this.#lastFocus = root.activeElement;
      }),
    );
  }

  // --- what changed

  #changed({ units, messages, moved, all }) {
    const coding = this.#coding;
    const { session } = coding;
    if (all) this.#view.render(session);
    else if (messages.length > 0) this.#view.append(messages);
    units.forEach((unit) => this.#view.refresh(unit));
    this.#view.setCurrent(session.current);
    this.#view.showEnd(session);
    const save = coding.save.status;
    const suggestion = coding.suggestion;
    const primary = suggestion.length > 0 ? coding.primary : -1;
    this.#panel.update({ save, suggestion, primary, stage: coding.stage });
    this.#notices.update(coding.notices, session.submitted);
    this.#view.showEvidence(evidenceOf(suggestion[primary] ?? suggestion[0]));
    setAttribute(this, "data-save-state", save.state);
    setAttribute(this, "data-stage", coding.stage);
    this.#announce(moved, save);
    this.#showDone(coding.stage);
    if (suggestion.length > 0) requestAnimationFrame(() => setTimeout(() => this.#noteShown()));
  }

  #announce(moved, save) {
    const { current, units, total } = this.#coding.session;
    const trouble = ["error", "offline", "retrying"].includes(save.state);
    if (trouble) setText(this.#live, saveSentence(save));
    else if (this.#coding.session.complete && !moved)
      setText(this.#live, "Everything is decided. Finish with Control and Enter.");
    else if (moved && current)
      setText(this.#live, `Unit ${current.order + 1} of ${Math.max(total, units.length)}: ${current.text}`);
  }

  /** A suggestion was shown when its card was painted, on screen, in a visible tab, for the current unit. */
  #noteShown() {
    const { session, suggestion } = this.#coding;
    const seen = this.#cardOnScreen && document.visibilityState === "visible" && this.isConnected && !this.#help.open;
    if (seen && suggestion.length > 0) session.markShown(session.current);
  }

  #showDone(stage) {
    const done = ["finished", "all_done"].includes(stage);
    this.#done.hidden = !done;
    if (!done || this.#done.dataset.stage === stage) return;
    this.#done.dataset.stage = stage;
    const finished = stage === "finished";
    this.#done.replaceChildren(
      el(
        "div",
        { class: "done-card", role: "status" },
        el("div", { class: "tick", "aria-hidden": "true" }, "✓"),
        el("h2", {}, finished ? "Conversation finished" : "All done"),
        el(
          "p",
          {},
          finished
            ? "The next conversation is being opened."
            : "There is no further conversation for you right now. Thank you!",
        ),
        finished
          ? null
          : el(
              "button",
              { type: "button", class: "quiet", onclick: () => this.#coding.revise() },
              "Look at this conversation again",
            ),
      ),
    );
  }

  // --- keys

  #openHelp() {
    if (!this.#help.open) this.#help.showModal();
  }

  #onKey(event) {
    const target = event.composedPath()[0];
    const inside = event.composedPath().includes(this);
    if (!inside && this.#isForeign(target)) return;
    if (PASSING.test(event.key)) return;
    const focus = this.#help.open ? "dialog" : focusKind(target);
    const command = keyCommand(event, { focus, categoryKeys: this.#categoryKeys() });
    // Label Studio's own hotkeys never see a key while the page is open: they would change its copy of the annotation
    event.stopImmediatePropagation();
    if (!command) {
      if (event.key === "Backspace" && focus === "page") event.preventDefault();
      return;
    }
    event.preventDefault();
    this.#run(command);
  }

  /** Fields and dialogs of Label Studio itself keep their keys. */
  #isForeign(target) {
    return (
      target instanceof Element && (focusKind(target) === "text" || target.closest('[role="dialog"], dialog') !== null)
    );
  }

  #categoryKeys() {
    return new Set(this.#coding.session.focusedDimension.categories.map(({ key }) => key));
  }

  #run(command) {
    if (command.type === "note") this.#panel.note.focus();
    else if (command.type === "help") this.#openHelp();
    else if (command.type === "finish") this.#coding.finish();
    else if (command.type === "leave") this.#leave();
    else this.#coding.run(command);
  }

  #leave() {
    if (this.#help.open) this.#help.close();
    else if (this.shadowRoot.activeElement === this.#panel.note) this.#view.element.focus({ preventScroll: true });
  }
}

/** Where a suggestion's evidence stands, when it is a verbatim quote. */
function evidenceOf(suggestion) {
  return suggestion?.evidence?.verbatim ? suggestion.evidence : null;
}
