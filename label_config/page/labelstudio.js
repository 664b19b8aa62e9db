/**
 * Everything the page knows of Label Studio (1.23.2): where to mount, which task and annotation is open, how to keep
 * its own interface quiet, how to go on. Nothing else in this folder touches `Htx` or `dataManager`.
 */

const MOUNT = ".convolabel-mount";
/** On `<html>` while the page is mounted: page.css hides Label Studio's own panels by it. */
const OPEN = "convolabel-on";
const PATIENCE = 15_000;

export class LabelStudio {
  #window;
  #waitingSince = null;

  constructor(window) {
    this.#window = window;
  }

  get #store() {
    return this.#window.Htx ?? null;
  }

  get #annotation() {
    return this.#store?.annotationStore?.selected ?? null;
  }

  /**
   * Null: nothing to mount now. {mount, task}: the page belongs there. {mount, problem}: it cannot, for that reason.
   */
  place() {
    const mount = this.#window.document.querySelector(MOUNT);
    if (!mount) return this.#wait(null);
    const lacking = this.#lacking();
    if (lacking) return this.#wait({ mount, problem: `this Label Studio lacks ${lacking}` });
    this.#waitingSince = null;
    // "Compare all" shows one copy of the mount per annotation, each with the same selected one
    if (this.#store.annotationStore.viewingAll) return null;
    if (this.#annotation.type !== "annotation") return null;
    if (!this.#ownAnnotation()) return { mount, problem: "this annotation belongs to somebody else" };
    return { mount, task: Number(this.#store.task.id) };
  }

  /** While Label Studio is still loading everything is lacking: only what stays so is a problem. */
  #wait(problem) {
    if (problem === null) {
      this.#waitingSince = null;
      return null;
    }
    this.#waitingSince ??= Date.now();
    return Date.now() - this.#waitingSince > PATIENCE ? problem : null;
  }

  #lacking() {
    if (!this.#store?.task?.id) return "an open task";
    if (!this.#annotation) return "an open annotation";
    return typeof this.#annotation.pauseAutosave === "function" ? null : "a way to pause its autosave";
  }

  /** New (a draft of this load), or made by the signed-in user. */
  #ownAnnotation() {
    const { pk, user } = this.#annotation;
    const me = this.#window.APP_SETTINGS?.user?.id;
    if (!pk || user === null || user === undefined) return true;
    return Number(user.id) === Number(me);
  }

  /** Hide Label Studio's own controls and keep it from posting its own copy of the annotation over the rater's. */
  quiet(mount) {
    this.#window.document.documentElement.classList.add(OPEN);
    // what stands above differs between the label stream and Quick View; page.css takes it from the height
    const top = `${Math.max(0, Math.round(mount.getBoundingClientRect().top + this.#window.scrollY))}px`;
    if (mount.style.getPropertyValue("--convolabel-top") !== top) mount.style.setProperty("--convolabel-top", top);
    const annotation = this.#annotation;
    // its autosave is made anew after every selection; before that there is nothing to pause
    if (annotation?.autosave && !annotation.autosave.paused) annotation.pauseAutosave();
  }

  /** Show Label Studio's own interface again. */
  release() {
    this.#window.document.documentElement.classList.remove(OPEN);
  }

  /** Whether the rater's history in Label Studio has a conversation before and after the open one. */
  get history() {
    return { previous: this.#store?.canGoPrevTask === true, next: this.#store?.canGoNextTask === true };
  }

  openPrevious() {
    this.#store.prevTask();
  }

  openNext() {
    this.#store.nextTask();
  }

  /** Open the next conversation. Answers whether there was one. */
  async next() {
    const stream = this.#window.dataManager?.lsf;
    if (typeof stream?.loadTask !== "function") {
      this.#window.location.reload();
      return true;
    }
    const before = this.#store.task?.id;
    await stream.loadTask();
    return !this.#store.noTask && this.#store.task?.id !== before;
  }
}
