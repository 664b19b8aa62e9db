import assert from "node:assert/strict";
import { test } from "node:test";
import { Clock } from "../../label_config/page/clock.js";

function make() {
  const time = { now: 0 };
  return { time, clock: new Clock({ now: () => time.now }) };
}

test("time goes to the current unit", () => {
  const { time, clock } = make();
  clock.enter("a");
  time.now = 1000;
  clock.enter("b");
  time.now = 1250;
  assert.equal(clock.take("a"), 1000);
  assert.equal(clock.take("b"), 250);
  time.now = 1300;
  assert.equal(clock.take("b"), 50); // only what came since
  assert.equal(clock.take("a"), 0);
});

test("a hidden minute does not count", () => {
  const { time, clock } = make();
  clock.enter("a");
  time.now = 2000;
  clock.setVisible(false);
  time.now = 62_000;
  clock.setVisible(true);
  time.now = 62_500;
  assert.equal(clock.take("a"), 2500);
});

test("a page opened in a hidden tab starts when it is looked at", () => {
  const time = { now: 0 };
  const clock = new Clock({ now: () => time.now, visible: false });
  clock.enter("a");
  time.now = 5000;
  clock.setVisible(true);
  time.now = 5100;
  assert.equal(clock.take("a"), 100);
});

test("stepping back adds to the unit's own time, nothing counts without a unit, fractions are not lost", () => {
  const { time, clock } = make();
  clock.enter("a");
  time.now = 10.6;
  clock.enter("b");
  time.now = 20;
  clock.enter("a");
  time.now = 30.6; // a: 10.6 + 10.6
  clock.enter(null);
  time.now = 99;
  assert.equal(clock.take("a"), 21);
  clock.enter("a");
  time.now = 99.9; // 0.2 left over + 0.9
  assert.equal(clock.take("a"), 1);
});
