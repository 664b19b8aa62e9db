import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { LabelStudio } from "../../label_config/page/labelstudio.js";

/** A window with as much of Label Studio as the page touches. */
function makeWindow({ annotation = {}, task = { id: 5 }, mounted = true } = {}) {
  const classes = new Set();
  const style = new Map();
  const mount = {
    getBoundingClientRect: () => ({ top: 48 }),
    style: { getPropertyValue: (name) => style.get(name) ?? "", setProperty: (name, value) => style.set(name, value) },
  };
  const autosave = { paused: false };
  const selected = annotation && {
    type: "annotation",
    pk: undefined,
    user: null,
    autosave,
    pauseAutosave: () => (autosave.paused = true),
    ...annotation,
  };
  const documentElement = { classList: { add: (name) => classes.add(name), remove: (name) => classes.delete(name) } };
  return {
    document: { querySelector: () => (mounted ? mount : null), documentElement },
    APP_SETTINGS: { user: { id: 7 } },
    Htx: { task, noTask: false, annotationStore: { viewingAll: false, selected } },
    scrollY: 0,
    mount,
    classes,
    style,
    autosave,
  };
}

test("mounts on a new annotation and on the rater's own", () => {
  for (const annotation of [{}, { pk: "9", user: { id: 7 } }, { pk: "9", user: { id: "7" } }]) {
    const window = makeWindow({ annotation });
    assert.deepEqual(new LabelStudio(window).place(), { mount: window.mount, task: 5 });
  }
});

test("never on somebody else's annotation, a prediction, or while all are compared", () => {
  const other = new LabelStudio(makeWindow({ annotation: { pk: "9", user: { id: 8 } } })).place();
  assert.match(other.problem, /somebody else/);
  assert.equal(new LabelStudio(makeWindow({ annotation: { type: "prediction" } })).place(), null);
  const comparing = makeWindow();
  comparing.Htx.annotationStore.viewingAll = true;
  assert.equal(new LabelStudio(comparing).place(), null);
  assert.equal(new LabelStudio(makeWindow({ mounted: false })).place(), null);
});

test("a Label Studio that is still loading gets time; one that stays without what is needed is a problem", () => {
  mock.timers.enable({ apis: ["Date"] });
  const studio = new LabelStudio(makeWindow({ annotation: { pauseAutosave: undefined } }));
  assert.equal(studio.place(), null);
  mock.timers.tick(14_000);
  assert.equal(studio.place(), null);
  mock.timers.tick(2000);
  assert.match(studio.place().problem, /pause its autosave/);
  mock.timers.reset();
});

test("quiet hides Label Studio's own controls, measures what is above and pauses autosave; release undoes the hiding", () => {
  const window = makeWindow();
  const studio = new LabelStudio(window);
  studio.quiet(window.mount);
  assert.deepEqual([[...window.classes], window.autosave.paused], [["convolabel-on"], true]);
  assert.equal(window.style.get("--convolabel-top"), "48px");
  studio.release();
  assert.equal(window.classes.size, 0);
});

test("next opens another task, and says when there is none", async () => {
  const window = makeWindow();
  const studio = new LabelStudio(window);
  window.dataManager = { lsf: { loadTask: async () => (window.Htx.task = { id: 6 }) } };
  assert.equal(await studio.next(), true);
  window.dataManager.lsf.loadTask = async () => (window.Htx.noTask = true);
  assert.equal(await studio.next(), false);
});

test("without the stream's loader the page is reloaded", async () => {
  const window = makeWindow();
  window.location = { reload: mock.fn() };
  assert.equal(await new LabelStudio(window).next(), true);
  assert.equal(window.location.reload.mock.callCount(), 1);
});
