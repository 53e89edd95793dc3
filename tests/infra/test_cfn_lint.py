"""cfn-lint finds nothing in the templates, as they come and with everything that a deployment may have."""

import subprocess
import sys
from pathlib import Path

import aws_cdk as cdk
import pytest

from infra import ROOT
from infra.app import compose
from infra.stage import Stage
from tests.infra.conftest import CDK_JSON
from tests.infra.test_nag import EVERYTHING

CFN_LINT = Path(sys.executable).parent / "cfn-lint"


@pytest.mark.parametrize("more", [{}, EVERYTHING], ids=["as it comes", "with everything"])
@pytest.mark.parametrize("stage", ["dev", "prod"])
def test_nothing_is_found(tmp_path: Path, stage: str, more: dict[str, object]) -> None:
    context = CDK_JSON | more | {"stage": stage, "aws:cdk:bundling-stacks": []}
    app = cdk.App(outdir=str(tmp_path), context=context)
    compose(app, Stage.from_context(context))
    app.synth()
    templates = sorted(map(str, tmp_path.glob("*.template.json")))

    done = subprocess.run([CFN_LINT, *templates], cwd=ROOT, capture_output=True, text=True, check=False)

    assert len(templates) == (1 if (stage, more) == ("dev", {}) else 2)
    assert (done.returncode, done.stdout) == (0, "")
