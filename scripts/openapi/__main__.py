"""`make openapi`: writes the document to where the functions serve it from."""

from scripts.openapi.document import text
from turnkeeper.edge.reference import DOCUMENT

DOCUMENT.write_text(text(), encoding="utf-8")
print(f"{DOCUMENT.name} written, {DOCUMENT.stat().st_size} bytes")
