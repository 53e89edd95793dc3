import assert from "node:assert/strict";
import test from "node:test";

import { linked, safeLink } from "../../console/app/links.js";

test("only https may be opened, and http on this machine", () => {
  for (const good of ["https://example.com/a?b=c", "http://127.0.0.1:4510/x", "http://localhost/x", "http://[::1]/"]) {
    assert.equal(safeLink(good)?.href, new URL(good).href);
  }
  const bad = [
    "http://example.com",
    "javascript:alert(1)",
    " java\nscript:alert(1)",
    "data:text/html,<script>",
    "file:///etc/passwd",
    "//example.com",
    "https://user:pass@example.com",
    "http://127.0.0.1.example.com",
    "http://localhost@example.com",
    "https://",
    "",
    null,
    undefined,
    7,
    {},
  ];
  for (const one of bad) assert.equal(safeLink(one), null, String(one));
});

test("addresses are found within a text, and all of the text is kept", () => {
  const text = "See https://example.com/a (or http://evil.example/b), then javascript:alert(1).";
  const pieces = linked(text);

  assert.deepEqual(
    pieces.map((piece) => (piece instanceof URL ? piece.href : piece)),
    ["See ", "https://example.com/a", " (or http://evil.example/b), then javascript:alert(1)."],
  );
});

test("a full stop after an address is no part of it", () => {
  assert.equal(linked("Go to https://example.com/x.").at(-1), ".");
});

test("an address ends where writing changes its direction", () => {
  const [link] = linked("https://example.com/\u202egnp.exe");

  assert.equal(String(link), "https://example.com/");
});
