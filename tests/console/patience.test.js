import assert from "node:assert/strict";
import test from "node:test";

import { mayRepeat, patience } from "../../console/app/patience.js";
import { problemOf } from "../../console/app/problem.js";

const OURS = { "content-type": "application/problem+json" };

/** A refusal of ours with *code* and *retry*. */
function refusal(code, retry = {}, status = 503) {
  const body = { agent_status: { code, name: "SOME" }, retry, detail: "So it is." };
  return problemOf(status, new Headers(OURS), JSON.stringify(body));
}

/** A refusal of the gateway's own. */
const bare = (status) => problemOf(status, new Headers({ "content-type": "application/json" }), '{"message":"No"}');

test("what is not safe to repeat never is", () => {
  assert.equal(mayRepeat(refusal(5003, { retryable: true, safe: false }), true), false);
  assert.equal(mayRepeat(refusal(5003, { retryable: false, safe: true }), true), false);
  assert.equal(mayRepeat(refusal(5003, { retryable: true, safe: true }), false), false);
  assert.equal(mayRepeat(refusal(5003, { retryable: true, safe: true }), true), true);
});

test("a refusal that promises nothing is final", () => {
  assert.equal(mayRepeat(refusal(5003, {}), true), false);
  assert.equal(mayRepeat(refusal(5003, { retryable: "true", safe: 1 }), true), false);
});

test("an unknown result is asked for again only with a key, and only if that is how it is found out", () => {
  const told = { retryable: true, safe: true, reconciliation_action: "repeat_the_request" };

  assert.equal(mayRepeat(refusal(6005, told), true), true);
  assert.equal(mayRepeat(refusal(6005, told), false), false);
  assert.equal(
    mayRepeat(refusal(6005, { ...told, reconciliation_action: "read_the_task_before_repeating" }), true),
    false,
  );
  assert.equal(mayRepeat(refusal(5004, { retryable: true, safe: true, side_effect_state: "possible" }), true), false);
});

test("what waits for something else to happen is not repeated", () => {
  for (const code of [3002, 3003, 4001])
    assert.equal(mayRepeat(refusal(code, { retryable: true, safe: true }, 409), true), false);
});

test("the gateway's 429 may be repeated by anybody, its 5xx only with a key, all else by nobody", () => {
  assert.equal(mayRepeat(bare(429), false), true);
  for (const status of [500, 502, 503, 504]) {
    assert.equal(mayRepeat(bare(status), true), true);
    assert.equal(mayRepeat(bare(status), false), false);
  }
  for (const status of [400, 401, 403, 413]) assert.equal(mayRepeat(bare(status), true), false);
});

test("patience waits at least as long as it was asked, and ends", () => {
  assert.equal(patience(1, 0, 1), 500);
  assert.equal(patience(2, 3, 1), 4000);
  assert.equal(patience(1, 21, 1), null);
  assert.equal(patience(6, 0, 1), null);
});

test("Retry-After and the contract both count, and nonsense counts for nothing", () => {
  const after = (header, ms) =>
    problemOf(503, new Headers({ ...OURS, "retry-after": header }), JSON.stringify({ retry: { after_ms: ms } })).after;

  assert.equal(after("3", 1000), 3);
  assert.equal(after("1", 2500), 2.5);
  assert.equal(after("soon", undefined), 0);
  assert.equal(after("-1", undefined), 0);
});

test("a refusal keeps the places that are wrong, and a broken one says nothing", () => {
  const body = JSON.stringify({ detail: "Several.", errors: [{ at: "input.to", problem: "is missing" }] });
  const found = problemOf(422, new Headers(OURS), body);

  assert.deepEqual(found.places, [{ at: "input.to", problem: "is missing" }]);
  for (const broken of ["", "<html>", "null", "[]", "7", '{"errors": {}, "agent_status": []}']) {
    const read = problemOf(500, new Headers(OURS), broken);
    assert.deepEqual([read.code, read.detail, read.places], [null, null, []]);
  }
});
