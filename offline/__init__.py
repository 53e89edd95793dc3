"""The same `cdk deploy`, onto an emulator on this machine: launch, deploy, repair what it drops, make users.

Nothing here describes the product; that is the stack's business. See docs/decisions/0012.
"""

import sys
from pathlib import Path

# The built-in agents say themselves which sign-in they wait for.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "layers" / "shared" / "python"))
