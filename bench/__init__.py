"""Measurements: how fast, how dear and how even the product is, beside what it is measured against.

A part is a module that measures one thing (`parts.PARTS` lists them). `make bench` runs each in a process of its own,
keeps what it found in `results.json`, and writes docs/performance.md from that and nothing else.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "layers" / "shared" / "python"))
