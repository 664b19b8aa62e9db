/**
 * The co-pilot's suggestion. The card keeps its place and looks the same whether there is none, none yet, or none to be
 * shown: nothing in it tells a control unit from any other.
 */

import { el, setAttribute } from "./dom.js";

export class SuggestionCard {
  #session;
  #accept;
  #shown = null; // the list the card shows now
  #keys = []; // the key cap of each proposal

  constructor(session, accept) {
    this.#session = session;
    this.#accept = accept;
    this.element = el("section", {
      class: "suggestion",
      "aria-label": "Suggestion",
      "data-testid": "suggestion-card",
    });
  }

  /** `suggestions`: what is known for the current unit; `primary`: the one the accept key takes (-1: none). */
  update(suggestions, primary) {
    if (this.#shown !== suggestions) this.#show(suggestions);
    this.#keys.forEach((key, index) => {
      key.hidden = index !== primary;
    });
  }

  #show(suggestions) {
    const wasEmpty = this.#shown?.length === 0 && suggestions.length === 0;
    this.#shown = suggestions;
    if (wasEmpty) return;
    this.#keys = [];
    setAttribute(this.element, "data-empty", suggestions.length === 0);
    setAttribute(this.element, "data-several", suggestions.length > 1);
    const cards = suggestions.map((suggestion, index) => this.#proposal(suggestion, index));
    this.element.replaceChildren(
      ...(cards.length > 0 ? cards : [el("p", { class: "none" }, "No suggestion for this unit")]),
    );
  }

  #proposal(suggestion, index) {
    const { dimensions } = this.#session;
    const dimension = this.#session.suggestionDimension(suggestion);
    const { evidence, confidence, rationale } = suggestion;
    const key = el("kbd", {}, "A");
    const button = el(
      "button",
      {
        type: "button",
        class: "accept",
        "data-testid": index === 0 ? "accept" : "accept-other",
        onmousedown: (event) => event.preventDefault(),
        onclick: () => this.#accept(index),
      },
      key,
      "Accept",
    );
    this.#keys.push(key);
    return el(
      "div",
      { class: "proposal", "data-suggestion": suggestion.label, "data-dimension": dimension?.id },
      el(
        "div",
        { class: "proposal-head" },
        el(
          "span",
          { class: "tag" },
          dimensions.length > 1 && dimension ? dimension.title : index === 0 ? "Suggestion" : "Or",
        ),
        el("strong", {}, dimension ? this.#session.labelName(dimension.id, suggestion.label) : suggestion.label),
        el("span", { class: "confidence", "data-level": confidence, title: `${confidence} confidence` }, confidence),
        button,
      ),
      el("p", { class: "rationale", dir: "auto", title: rationale }, rationale),
      evidence && !this.#session.isCurrentUnit(evidence)
        ? el(
            "p",
            { class: "quotation" },
            evidence.verbatim ? "Evidence: " : "Evidence (not verbatim): ",
            el("q", { dir: "auto" }, evidence.text),
          )
        : null,
    );
  }
}
