/** Entry point, injected into Label Studio's pages: mounts the page where a labeling config of convolabel is open. */

import { Api } from "./api.js";
import { el } from "./dom.js";
import { LabelStudio } from "./labelstudio.js";
import { ConvolabelPage } from "./page-element.js";
import { Prefs } from "./prefs.js";
import { Workroom } from "./workroom.js";

const POLL = 500; // Label Studio changes task and annotation without always changing the DOM
const RETRY = 3000;

function browserStorage() {
  try {
    return window.localStorage;
  } catch {
    return null; // refused by the browser; the queue says so
  }
}

const csrfToken = () => decodeURIComponent(document.cookie.match(/(?:^|;\s*)csrftoken=([^;]*)/)?.[1] ?? "");
const isOurs = (error) => "kind" in error;

class Main {
  #studio = new LabelStudio(window);
  #storage = browserStorage();
  #prefs = new Prefs(this.#storage);
  #api = new Api({ fetch: (...request) => window.fetch(...request), readToken: csrfToken });
  #sheet = new CSSStyleSheet();
  #room;
  #element = null; // the page that is shown
  #opening = null; // task being opened
  #refused = new Map(); // task -> sentence: the stock interface stays
  #retryAt = 0;
  #left = false; // the rater went elsewhere in Label Studio meanwhile

  async start() {
    const css = await fetch(new URL("./element.css", import.meta.url));
    await this.#sheet.replace(await css.text());
    customElements.define("convolabel-page", ConvolabelPage);
    this.#room = new Workroom({
      api: this.#api,
      storage: this.#storage,
      prefs: this.#prefs,
      client: newClient(),
      now: () => performance.now(),
      wallNow: () => Date.now(),
      random: Math.random,
      setTimer: (run, delay) => setTimeout(run, delay),
      clearTimer: (timer) => clearTimeout(timer),
      online: () => navigator.onLine,
      visible: () => document.visibilityState === "visible",
      next: () => this.#studio.next(),
    });
    this.#watch();
    this.#sync();
  }

  #watch() {
    let due = false;
    const soon = () => {
      if (due) return;
      due = true;
      requestAnimationFrame(() => {
        due = false;
        this.#sync();
      });
    };
    new MutationObserver(soon).observe(document.body, { childList: true, subtree: true });
    setInterval(() => this.#sync(), POLL);
    const retry = () => this.#room.retry();
    addEventListener("online", retry);
    addEventListener("focus", retry);
    addEventListener("pagehide", () => this.#room.setVisible(false));
    addEventListener("offline", () => this.#element?.coding.saveChanged());
    document.addEventListener("visibilitychange", () => this.#room.setVisible(document.visibilityState === "visible"));
    addEventListener("beforeunload", (event) => {
      if (this.#room.wouldLose) event.preventDefault();
    });
  }

  #sync() {
    const place = this.#studio.place();
    if (!place) return this.#detach();
    const problem = place.problem ?? this.#refused.get(place.task);
    if (problem) return this.#leaveStock(place.mount, problem);
    this.#studio.quiet(place.mount);
    if (this.#element?.coding.task !== place.task) return this.#open(place);
    this.#element.showHistory(this.#studio.history);
    if (this.#element.parentElement === place.mount) return;
    const back = this.#left && ["finished", "all_done"].includes(this.#element.coding.stage);
    this.#left = false;
    place.mount.replaceChildren(this.#element);
    if (back) this.#element.coding.reopen();
  }

  #detach() {
    if (this.#element?.isConnected) this.#element.remove();
    this.#left = this.#element !== null;
    this.#studio.release();
  }

  #leaveStock(mount, problem) {
    this.#detach();
    if (mount.querySelector(".convolabel-notice")) return;
    mount.replaceChildren(
      el(
        "p",
        { class: "convolabel-notice", role: "status" },
        `The convolabel page is not used here: ${problem}. Label Studio's own interface is shown.`,
      ),
    );
  }

  async #open({ mount, task }) {
    if (this.#opening === task || Date.now() < this.#retryAt) return;
    this.#opening = task;
    this.#element?.remove();
    this.#element = null;
    try {
      const known = this.#room.has(task);
      const coding = await this.#room.open(task);
      if (known) await coding.reopen();
      this.#element = document.createElement("convolabel-page");
      this.#element.show(coding, {
        prefs: this.#prefs,
        sheet: this.#sheet,
        retry: () => this.#room.retry({ refused: true }),
        discard: () => this.#room.discardRefused(),
        openPrevious: () => this.#studio.openPrevious(),
        openNext: () => this.#studio.openNext(),
      });
    } catch (error) {
      if (!isOurs(error)) throw error;
      this.#failedToOpen(mount, task, error);
    } finally {
      this.#opening = null;
    }
    if (this.#element) this.#sync();
  }

  /** What will not get better leaves the stock interface; everything else is tried again. */
  #failedToOpen(mount, task, error) {
    if ([400, 403, 404].includes(error.status)) {
      this.#refused.set(task, error.message.replace(/\.$/, ""));
      return this.#sync();
    }
    this.#retryAt = Date.now() + RETRY;
    const text =
      error.kind === "signed_out"
        ? "You are signed out. Sign in again in another tab; this page then goes on."
        : `${error.message} Trying again…`;
    mount.replaceChildren(el("p", { class: "convolabel-notice", role: "status" }, text));
  }
}

/** Names this load of the page. `randomUUID` exists on https and localhost only. */
function newClient() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

new Main().start();
