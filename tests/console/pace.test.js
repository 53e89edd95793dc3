import assert from "node:assert/strict";
import test from "node:test";

import { pause } from "../../console/app/pace.js";

test("a page that is seen looks again when the server says so", () => {
  assert.equal(pause({ asked: 7 }), 7000);
});

test("each failure doubles the pause, until half a minute", () => {
  const pauses = [1, 2, 3, 4, 5, 6, 9].map((failures) => pause({ asked: 0, failures, chance: 1 }));

  assert.deepEqual(pauses, [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
});

test("failures of many pages at once are spread", () => {
  assert.equal(pause({ asked: 0, failures: 4, chance: 0 }), 4000);
  assert.equal(pause({ asked: 0, failures: 4, chance: 0.5 }), 6000);
});

test("a server that wants a longer pause gets it", () => {
  assert.equal(pause({ asked: 20, failures: 1, chance: 1 }), 20_000);
});

test("a page that nobody sees looks ever more seldom, and at least each five minutes", () => {
  const pauses = [0, 1, 2, 3, 4, 8].map((unseen) => pause({ asked: 1, hidden: true, unseen }));

  assert.deepEqual(pauses, [30_000, 60_000, 120_000, 240_000, 300_000, 300_000]);
});
