"""The product with a mistake in it: `cdk deploy --app "python -m tests.support.bad_app"` changes all, then fails.

What comes last is a signal that nobody sends, so CloudFormation has replaced every function when it gives up.
"""

import aws_cdk as cdk

from infra.app import compose
from infra.stack import Turnkeeper
from infra.stage import Stage

GIVES_UP_AFTER_SECONDS = 3


def main() -> None:
    """Synthesise it."""
    app = cdk.App()
    product, *_ = compose(app, Stage.from_context(app.node.get_all_context()))
    assert isinstance(product, Turnkeeper)
    handle = cdk.CfnWaitConditionHandle(product, "Nobody")
    signal = cdk.CfnWaitCondition(
        product, "Signal", count=1, handle=handle.ref, timeout=str(GIVES_UP_AFTER_SECONDS)
    )
    for function in product.functions.all:
        signal.node.add_dependency(function)
    app.synth()


if __name__ == "__main__":
    main()
