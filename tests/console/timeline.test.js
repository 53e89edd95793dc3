import assert from "node:assert/strict";
import test from "node:test";

import { lasted, turnsOf, width } from "../../console/app/timeline.js";

const START = Date.parse("2026-11-30T12:00:00Z");
let n = 0;
const entry = (second, transition, turn = 1, attempt = 1) => ({
  n: (n += 1),
  at: new Date(START + second * 1000).toISOString(),
  transition,
  code: 1010,
  actor: "worker",
  turn,
  attempt,
});
const told = (turns) =>
  turns.map(({ spans }) =>
    spans.map(({ kind, from, to, end }) => [kind, (from - START) / 1000, (to - START) / 1000, end]),
  );

test("a turn that finishes is one attempt", () => {
  const turns = turnsOf(
    [entry(0, "create", null, null), entry(1, "start_turn"), entry(2, "emit"), entry(3, "finish")],
    START,
  );

  assert.deepEqual(told(turns), [[["runs", 1, 3, "finish"]]]);
  assert.equal(turns[0].spans[0].outputs, 1);
  assert.equal(lasted(turns[0]), 2000);
});

test("a failed attempt, the pause after it and the next attempt are spans of one turn", () => {
  const turns = turnsOf(
    [entry(0, "start_turn"), entry(1, "fail_attempt"), entry(3, "start_attempt", 1, 2), entry(4, "finish")],
    START,
  );

  assert.deepEqual(told(turns), [
    [
      ["runs", 0, 1, "fail_attempt"],
      ["between", 1, 3, "start_attempt"],
      ["runs", 3, 4, "finish"],
    ],
  ]);
  assert.deepEqual(
    turns[0].spans.map(({ attempt }) => attempt),
    [1, null, 2],
  );
});

test("a turn that waits goes on waiting until now", () => {
  const turns = turnsOf([entry(0, "start_turn"), entry(1, "suspend"), entry(5, "accept", 1)], START + 9000);

  assert.deepEqual(told(turns), [
    [
      ["runs", 0, 1, "suspend"],
      ["waits", 1, 9, null],
    ],
  ]);
});

test("the end of the task ends the turn, and what is no turn's draws nothing", () => {
  const turns = turnsOf(
    [entry(0, "create", null), entry(1, "start_turn"), entry(2, "complete"), entry(3, "expire", null)],
    START + 9000,
  );

  assert.deepEqual(told(turns), [[["runs", 1, 2, "complete"]]]);
  assert.deepEqual(turnsOf([], START), []);
});

test("an attempt that fails for the last time ends the turn with the task", () => {
  const turns = turnsOf([entry(0, "start_turn"), { ...entry(1, "fail_attempt"), to: "terminal" }], START + 9000);

  assert.deepEqual(told(turns), [[["runs", 0, 1, "fail_attempt"]]]);
});

test("a day is wider than a second, and both can be seen", () => {
  const of = (ms) => width({ from: 0, to: ms });

  assert.ok(of(86_400_000) > of(1000) && of(1000) > of(10) && of(0) >= 1);
  assert.ok(of(86_400_000) / of(10) < 20);
});
