"""`make openapi`: writes the document to where the functions serve it from.

`make openapi RELEASE=1` also makes it the one that later versions are compared with.
"""

import sys

from scripts.openapi import released
from scripts.openapi.document import document, text
from turnkeeper.edge.reference import DOCUMENT

DOCUMENT.write_text(text(), encoding="utf-8")
print(f"{DOCUMENT.name} written, {DOCUMENT.stat().st_size} bytes")
if "--release" in sys.argv[1:]:
    released.keep(document())
    print(f"{released.KEPT.name} is what later versions are compared with")
