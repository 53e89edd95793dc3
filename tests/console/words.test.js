import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { countdown, dayOf, relative, short, size, span } from "../../console/app/format.js";
import { placeOf, to } from "../../console/app/router.js";
import { speak, t } from "../../console/app/texts.js";
import { waitsOf } from "../../console/app/waits.js";

speak(JSON.parse(readFileSync(new URL("../../console/texts/en.json", import.meta.url), "utf8")));
const NOW = Date.parse("2026-11-30T12:00:00Z");

test("a number chooses among plural forms", () => {
  assert.equal(t("away.next", { count: 1 }), "Next try in 1 second.");
  assert.equal(t("away.next", { count: 0 }), "Next try in 0 seconds.");
});

test("a value stands in its place as it is, whatever it says", () => {
  assert.equal(t("new.with", { agent: "$& {count} <b>" }), "New task with $& {count} <b>");
});

test("instants are told by their distance", () => {
  assert.equal(relative(NOW - 30_000, NOW), "now");
  assert.equal(relative(NOW - 61_000, NOW), "1 minute ago");
  assert.equal(relative(NOW - 3 * 3_600_000, NOW), "3 hours ago");
  assert.equal(relative(NOW + 49 * 3_600_000, NOW), "in 2 days");
});

test("what is left is told in words, and by the second in the last hour", () => {
  assert.equal(countdown(6 * 86_400_000 + 1), "6 days");
  assert.equal(countdown(47 * 3_600_000), "47 hours");
  assert.equal(countdown(245_000), "4:05");
  assert.equal(countdown(-5), "0:00");
});

test("days have names", () => {
  assert.equal(dayOf(NOW, NOW), "Today");
  assert.equal(dayOf(NOW - 86_400_000, NOW), "Yesterday");
  assert.equal(dayOf(NOW - 7 * 86_400_000, NOW), "Monday, November 23");
});

test("sizes and spans are short", () => {
  assert.deepEqual([size(1), size(23), size(1536), size(104_857_600)], ["1 byte", "23 bytes", "1.5 kB", "105 MB"]);
  assert.deepEqual(
    [span(16), span(2400), span(59_000), span(180_000), span(3 * 86_400_000)],
    ["16 ms", "2.4 s", "59 s", "3 min", "3 d"],
  );
  assert.equal(short("0123456789abcdef"), "01234567");
});

test("an address names its view, and one that leads nowhere says so", () => {
  assert.deepEqual(placeOf(""), { view: "home", id: null, rest: null });
  assert.deepEqual(placeOf("#/?phase=idle"), { view: "home", id: null, rest: "phase=idle" });
  assert.equal(placeOf(to.task("a/b")).id, "a/b");
  assert.deepEqual(
    [placeOf(to.journal("a")).view, placeOf(to.create()).view, placeOf(to.create("x")).id],
    ["journal", "new", "x"],
  );
  assert.equal(placeOf("#/tasks/%").id, "%");
  for (const odd of ["#x", "#/tasks", "#/tasks/a/b/c", "#//"]) assert.equal(placeOf(odd).view, "missing");
});

test("a review of one's own task is one card, which knows the task; another's is one without", () => {
  const since = "2026-11-30T12:00:00.000001Z";
  const mine = { id: "r1", agent: "concierge", subject: "Go?", since, deadline: since };
  const theirs = { ...mine, id: "r2", since: "2026-11-30T11:00:00.000000Z" };
  const calls = [
    { task: "t1", agent: "concierge", kind: "review_required", since },
    {
      task: "t2",
      agent: "concierge",
      kind: "user_auth_required",
      since: "2026-11-30T10:00:00.000000Z",
      provider: "calendar",
    },
  ];

  assert.deepEqual(
    waitsOf(calls, [mine, theirs]).map(({ kind, task }) => [kind, task]),
    [
      ["sign-in", "t2"],
      ["review", null],
      ["review", "t1"],
    ],
  );
  assert.deepEqual(
    waitsOf(calls.slice(0, 1), []).map(({ kind, task }) => [kind, task]),
    [["look", "t1"]],
  );
});
