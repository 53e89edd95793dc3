"""What people and hosts do that is no transition of a task: reading, mostly. It is cut like everything else."""

import json

from tests.faults.agents import HOST, Talker, enlist
from tests.faults.host_scenes import APPROVAL, SIGN_IN, asked, delegate, delegating, fence, started
from tests.faults.scene import Scene
from tests.support.laboratory import ALICE, BOB, Laboratory
from turnkeeper.service import agent_status, catalogue, host_agents, host_turns, journal, messages
from turnkeeper.service.files import Upload, download, upload
from turnkeeper.service.notifications import list_calls
from turnkeeper.service.reviews import list_reviews
from turnkeeper.service.tasks import list_tasks
from turnkeeper.service.waiting import resolutions
from turnkeeper.service.whole import whole

PATH = "parcels.csv"
MANIFEST = {"name": "helper", "description": "Helps.", "turnkeeper": {"runs": "external"}}


def _conversing(lab: Laboratory) -> str:
    """An idle task in which something was said."""
    task_id = lab.create("first", agent=enlist(lab, "agent", Talker)).task.id
    lab.work()
    return task_id


def _with_file(lab: Laboratory) -> str:
    """A task whose second input names a file."""
    task_id = _conversing(lab)
    lab.send_file(task_id, PATH)
    return task_id


def _waiting_for_people(lab: Laboratory) -> str:
    """A task whose turn waits for its user's authorisation and for Bob's approval."""
    task_id, needs = started(lab), [APPROVAL, SIGN_IN]
    host_turns.wait(lab.runtime, asked(task_id), fence=fence(lab, task_id), needs=needs, memo='"memo"')
    return task_id


def _with_child(lab: Laboratory) -> str:
    task_id = delegating(lab)
    delegate(lab, lab, task_id)
    return task_id


def _child(spoiled: Laboratory, healthy: Laboratory, task_id: str) -> object:
    (made,) = [
        pk.removeprefix("TASK#")
        for pk, sk in healthy.everything()
        if sk == "TASK" and pk != f"TASK#{task_id}"
    ]
    return host_turns.child(spoiled.runtime, principal=HOST, task_id=task_id, child_id=made)


def _reads_as_a_host(spoiled: Laboratory, _healthy: Laboratory, task_id: str) -> object:
    task = host_turns.read(spoiled.runtime, principal=HOST, task_id=task_id)
    return host_turns.memo(spoiled.runtime, task), resolutions(spoiled.runtime, task)


def _converses_as_a_host(spoiled: Laboratory, _healthy: Laboratory, task_id: str) -> object:
    return messages.page_of(
        spoiled.runtime,
        lambda: host_turns.read(spoiled.runtime, principal=HOST, task_id=task_id),
        after=None,
        limit=10,
        for_model=True,
    )


def _offers(spoiled: Laboratory, healthy: Laboratory, task_id: str) -> object:
    spoiled._s3 = healthy.s3  # noqa: SLF001 - the bucket is made once
    offered = Upload(caller=ALICE, name=PATH, kind="text/csv", size=3, body="{}", key="key")
    return upload(spoiled.runtime, whole(spoiled.runtime, caller=ALICE, task_id=task_id), offered)


def _gets(spoiled: Laboratory, healthy: Laboratory, task_id: str) -> object:
    spoiled._s3 = healthy.s3  # noqa: SLF001
    (named,) = [entry for entry in healthy.conversation(task_id) if "file" in entry["message"][0]]
    at = named["received_at"]
    task = whole(spoiled.runtime, caller=ALICE, task_id=task_id)
    return download(spoiled.runtime, task, file=f"task://{PATH}", at=at)


def _registers(spoiled: Laboratory, _healthy: Laboratory, _task_id: str) -> object:
    document = json.dumps(MANIFEST)
    return host_agents.register(spoiled.runtime, principal=HOST, name="helper", document=document)


def _nobody_knows(_tag: str) -> bool:
    return False


READING_SCENES = (
    Scene("poll", _conversing, lambda spoiled, _, task_id: spoiled.poll(task_id)),
    Scene("read messages", _conversing, lambda spoiled, _, task_id: spoiled.page(task_id)),
    Scene(
        "list tasks",
        _conversing,
        lambda spoiled, _, __: list_tasks(
            spoiled.runtime, caller=ALICE, phase=None, agent=None, limit=10, cursor=None
        ),
    ),
    Scene(
        "list agents",
        _conversing,
        lambda spoiled, _, __: catalogue.list_agents(spoiled.runtime, limit=10, cursor=None),
    ),
    Scene("read an agent", _conversing, lambda spoiled, _, __: catalogue.read(spoiled.runtime, "agent")),
    Scene(
        "list reviews",
        _waiting_for_people,
        lambda spoiled, _, __: list_reviews(spoiled.runtime, caller=BOB, limit=10, cursor=None),
    ),
    Scene(
        "list calls",
        _waiting_for_people,
        lambda spoiled, _, __: list_calls(spoiled.runtime, caller=ALICE, limit=10, cursor=None),
    ),
    Scene(
        "read the agent status",
        _waiting_for_people,
        lambda spoiled, _, task_id: agent_status.for_person(
            spoiled.runtime, caller=ALICE, task_id=task_id, develops=True, is_known=_nobody_knows
        ),
    ),
    Scene(
        "read the agent status as a host",
        _waiting_for_people,
        lambda spoiled, _, task_id: agent_status.for_host(
            spoiled.runtime, principal=HOST, task_id=task_id, is_known=_nobody_knows
        ),
    ),
    Scene(
        "read the agent status as an auditor",
        _waiting_for_people,
        lambda spoiled, _, task_id: agent_status.for_auditor(
            spoiled.runtime, task_id=task_id, is_known=_nobody_knows
        ),
    ),
    Scene(
        "read the journal",
        _waiting_for_people,
        lambda spoiled, _, task_id: journal.page(
            spoiled.runtime, caller=ALICE, task_id=task_id, develops=True, after=None, limit=10
        ),
    ),
    Scene("host reads", _waiting_for_people, _reads_as_a_host),
    Scene("host reads messages", started, _converses_as_a_host),
    Scene("host reads a child", _with_child, _child),
    Scene("host registers an agent", started, _registers),
    Scene(
        "host reads an agent",
        started,
        lambda spoiled, _, __: host_agents.read(spoiled.runtime, principal=HOST, name="agent"),
    ),
    Scene("offer a file", _conversing, _offers),
    Scene("get a file", _with_file, _gets),
)
