"""What the product costs in time, measured against something else in the same run."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "layers" / "shared" / "python"))
