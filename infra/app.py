"""The CDK app: one stack, told by the context what to be."""

import sys

import aws_cdk as cdk

from infra.stack import Turnkeeper
from infra.stage import SettingRefused, Stage


def main() -> int:
    """Synthesise; return the exit code."""
    app = cdk.App()
    try:
        stage = Stage.from_context(app.node.get_all_context() or {})
    except SettingRefused as refused:
        print(f"Nothing was synthesised. {refused} See the context in cdk.json.", file=sys.stderr)
        return 1
    Turnkeeper(app, "Turnkeeper", stage=stage, stack_name=f"turnkeeper-{stage.stage}")
    app.synth()
    return 0


if __name__ == "__main__":
    sys.exit(main())
