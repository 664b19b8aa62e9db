/** What the rater is told in passing, above the conversation, so that the decision panel never moves. */

import { el } from "./dom.js";

const SUBMITTED = "You have finished this conversation. What you change here is still saved.";

export class NoticeStrip {
  #dismiss;
  #shown = "";

  constructor(dismiss) {
    this.#dismiss = dismiss;
    this.element = el("div", { class: "notices" });
  }

  update(notices, submitted) {
    const shown = JSON.stringify([notices, submitted]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    const banner = submitted
      ? [el("p", { class: "notice", "data-testid": "submitted" }, el("span", {}, SUBMITTED))]
      : [];
    this.element.replaceChildren(...banner, ...notices.map((text) => this.#notice(text)));
  }

  #notice(text) {
    const close = el(
      "button",
      { type: "button", class: "icon", "aria-label": "Close this message", onclick: () => this.#dismiss(text) },
      "×",
    );
    return el("p", { class: "notice", "data-testid": "notice", role: "alert" }, el("span", {}, text), close);
  }
}
