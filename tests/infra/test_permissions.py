"""Least privilege, both ways: a function calls nothing that its role does not allow, and its role allows nothing else.

What it calls is what it called in this run, whoever tested what. Only a run of all that drives the functions can tell
that a permission is unused.
"""

from pathlib import Path

import pytest
from aws_cdk.assertions import Template
from rich.console import Console
from rich.table import Table

from infra.stack import BRING, FOLLOW
from tests.infra.conftest import Synthesise
from tests.infra.test_grants import GRANTS, LOG, TRACE, granted
from tests.support import callbook
from tests.support.callbook import Permission

TESTS = Path(__file__).parents[1]
DRIVERS = {path for folder in ("integration", "faults") for path in (TESTS / folder).glob("test_*.py")}
FUNCTION = "arn:aws:lambda:eu-central-1:123456789012:function:answers"
MODEL = "arn:aws:bedrock:eu-central-1::foundation-model/amazon.nova-lite-v1:0"

BY_AWS: dict[str, set[Permission]] = {
    "turns": {(action, "queue") for action in BRING},
    "publish": {(action, "table's stream") for action in FOLLOW}
    | {("dynamodb:ListStreams", "table/stream/*")},
}
"""What AWS does in a function's name, and no test on an engine can see: Lambda brings it the messages of its queue."""
OF_EVERY_FUNCTION = {(action, "its log") for action in LOG} | {(action, "*") for action in TRACE}
"""Lambda writes each function's log and trace by the function's role."""


@pytest.fixture(scope="module")
def hosting(synthesise: Synthesise) -> Template:
    """A deployment in which everything that a function may call is there."""
    acme = {"principal": "123456789012/AROAEXAMPLE", "arn": "arn:aws:iam::123456789012:role/acme"}
    assistant = {"model": "amazon.nova-lite-v1:0", "arns": [MODEL]}
    return synthesise(
        external_hosts={"acme": acme}, host_functions=[FUNCTION], bedrock_agents={"assistant": assistant}
    )


def allowed(template: Template, name: str) -> set[Permission]:
    """What the role of the function *name* allows for its own calls."""
    kinds = {
        "HostQueueAcme": "queue",
        "untold": "queue",
        "bus": "events",
        FUNCTION: "function",
        MODEL: "model",
    }
    everything = {
        (action, kinds.get(where, where))
        for where, actions in granted(template, name).items()
        for action in actions
    }
    by_aws = BY_AWS.get(name, set()) | OF_EVERY_FUNCTION
    assert by_aws <= everything
    return everything - by_aws


@pytest.mark.parametrize("name", GRANTS)
def test_a_function_called_nothing_that_its_role_does_not_allow(hosting: Template, name: str) -> None:
    assert callbook.calls.get(name, set()) - allowed(hosting, name) == set()


def test_every_permission_was_used(
    hosting: Template, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    if left_out := DRIVERS - {item.path for item in request.session.items}:
        pytest.skip(f"only a run of everything knows; left out: {len(left_out)} files")
    table = Table("function", "calls made", "calls allowed", "equal", title="Least privilege")
    for name in GRANTS:
        made, may = callbook.calls.get(name, set()), allowed(hosting, name)
        table.add_row(name, written(made), written(may), "yes" if made == may else "NO")
    with capsys.disabled():
        Console(width=150).print("", table)

    unused = {name: allowed(hosting, name) - callbook.calls.get(name, set()) for name in GRANTS}
    assert {name: sorted(permissions) for name, permissions in unused.items() if permissions} == {}


def written(permissions: set[Permission]) -> str:
    """As people read them: each resource, and what is done to it."""
    kinds = sorted({resource for _, resource in permissions})
    return "\n".join(
        f"{kind}: {', '.join(sorted(action.partition(':')[2] for action, on in permissions if on == kind))}"
        for kind in kinds
    )
