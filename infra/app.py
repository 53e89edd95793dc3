"""The CDK app: the product, and what watches it; the context says what they are to be."""

import sys

import aws_cdk as cdk
from cdk_nag import AwsSolutionsChecks

from infra.operations import Operations
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
    compose(app, stage)
    app.synth()
    return 0


def compose(app: cdk.App, stage: Stage) -> list[cdk.Stack]:
    """Return the stacks of *stage* in *app*; what cdk-nag finds in them ends the synth, so that nobody deploys it."""
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    name = f"turnkeeper-{stage.stage}"
    product = Turnkeeper(app, "Turnkeeper", stage=stage, stack_name=name)
    if not stage.operations:
        return [product]
    return [
        product,
        Operations(app, "Operations", product=product, stage=stage, stack_name=f"{name}-operations"),
    ]


if __name__ == "__main__":
    sys.exit(main())
