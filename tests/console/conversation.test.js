import assert from "node:assert/strict";
import test from "node:test";

import { besides, Conversation, reasonOf, receipt, textOf } from "../../console/app/conversation.js";

const at = (second) => `2026-11-30T12:00:0${second}.000000Z`;
const says = (text) => [{ mimeType: "text/plain", text }];
const arrived = (second, text = "hi") => ({ type: "input", message: says(text), received_at: at(second) });
const seen = (second, committed, text = "hi") => ({ ...arrived(second, text), committed_at: at(committed) });
const output = (second, text = "ho") => ({ type: "output", message: says(text), committed_at: at(second) });

test("an input that comes again, committed, takes its own place and no other", () => {
  const held = new Conversation();
  held.add([arrived(1), arrived(2)]);
  held.add([seen(1, 3), output(4)]);

  assert.deepEqual(held.entries, [seen(1, 3), output(4), arrived(2)]);
});

test("a page that comes late takes nothing back", () => {
  const held = new Conversation();
  held.add([seen(1, 3)]);

  assert.equal(held.add([arrived(1)]), false);
  assert.deepEqual(held.entries, [seen(1, 3)]);
});

test("what was said again is there once", () => {
  const held = new Conversation();
  assert.equal(held.add([output(1), seen(2, 3)]), true);

  assert.equal(held.add([output(1), seen(2, 3)]), false);
  assert.equal(held.entries.length, 2);
});

test("an input has arrived, is seen, is refused, or came too late", () => {
  assert.equal(receipt(arrived(1), false), "arrived");
  assert.equal(receipt(seen(1, 2), false), "seen");
  assert.equal(receipt({ ...seen(1, 2), error: "denied_by_input_guardrail" }, false), "refused");
  assert.equal(receipt(arrived(1), true), "unseen");
  assert.equal(receipt(seen(1, 2), true), "seen");
});

test("the reason of a refusal is the answer to it, and not an earlier one", () => {
  const denied = { error: "denied_by_input_guardrail" };
  const first = { ...seen(1, 2), ...denied };
  const second = { ...seen(4, 5), ...denied };
  const entries = [first, { ...output(3, "too long"), ...denied }, second, { ...output(6, "too short"), ...denied }];

  assert.equal(reasonOf(first, entries), "too long");
  assert.equal(reasonOf(second, entries), "too short");
  assert.equal(reasonOf(second, entries.slice(0, 3)), null);
});

test("parameters and exposed values are told apart from the message", () => {
  assert.deepEqual(besides({ ...output(1), to: "Bern" }), [["to", "Bern"]]);
  assert.equal(
    textOf({ ...output(1), message: [...says("a"), { mimeType: "image/png", file: "task://x" }, ...says("b")] }),
    "a\nb",
  );
});
