"""The commands of this repository; they use the package as it lies in the layer."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "layers" / "shared" / "python"))
