import assert from "node:assert/strict";
import test from "node:test";

import { fieldAt, fieldsOf, kindOf, read, typed } from "../../console/app/parameters.js";

test("the message is no field of its own, and what is required comes first", () => {
  const schema = {
    type: "object",
    properties: { message: {}, price: { type: "number" }, to: { type: "string" } },
    required: ["to"],
  };

  assert.deepEqual(
    fieldsOf(schema).map(({ name, required }) => [name, required]),
    [
      ["to", true],
      ["price", false],
    ],
  );
  assert.deepEqual(fieldsOf(null), []);
});

test("what is typed becomes the value that is wanted", () => {
  const cases = [
    [{ type: "string" }, "Bern", "Bern"],
    [{ type: "number" }, "1.5", 1.5],
    [{ type: "integer" }, "-3", -3],
    [{ type: "boolean" }, "false", false],
    [{ enum: ["a", 2, null] }, "2", 2],
    [{ enum: ["a", 2, null] }, "null", null],
    [{ type: "array", items: { type: "string" } }, "a\n\nb", ["a", "b"]],
    [{ type: "array", items: { type: "number" } }, "[1, 2]", [1, 2]],
    [{ type: "object" }, '{"a": 1}', { a: 1 }],
    [{}, '"any"', "any"],
  ];
  for (const [schema, text, value] of cases)
    assert.deepEqual(read(schema, text), { ok: true, value }, JSON.stringify(schema));
});

test("an empty field is no value at all", () => {
  for (const schema of [{ type: "string" }, { type: "number" }, { type: "boolean" }, { enum: [1] }, {}]) {
    assert.deepEqual(read(schema, ""), { ok: true, value: undefined });
  }
});

test("what cannot be a value says why", () => {
  assert.deepEqual(read({ type: "number" }, "a lot"), { ok: false, problem: "field.number" });
  assert.deepEqual(read({ type: "integer" }, "1.5"), { ok: false, problem: "field.integer" });
  assert.deepEqual(read({ type: "object" }, "{a"), { ok: false, problem: "field.json" });
});

test("a default is typed in as it would be read back", () => {
  for (const [schema, value] of [
    [{ type: "string" }, "x"],
    [{ type: "number" }, 0],
    [{ type: "boolean" }, false],
    [{ enum: ["a", null] }, null],
    [{ type: "array", items: { type: "string" } }, ["a", "b"]],
    [{ type: "object" }, { a: [1] }],
  ]) {
    assert.deepEqual(read(schema, typed(schema, value)), { ok: true, value });
  }
  assert.equal(typed({ type: "string" }, undefined), "");
});

test("a long text gets room, and a file is named by its address", () => {
  assert.equal(kindOf({ type: "string", maxLength: 5000 }), "long");
  assert.equal(kindOf({ type: "string", format: "file" }), "text");
});

test("a refusal's place leads to its field", () => {
  assert.equal(fieldAt("input.message[0].text"), "message");
  assert.equal(fieldAt("message[3].file"), "message");
  assert.equal(fieldAt("input.price"), "price");
  assert.equal(fieldAt("agent"), "agent");
});
