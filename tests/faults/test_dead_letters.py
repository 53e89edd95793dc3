"""What nobody can attend to ends among the dead letters and blocks nobody; once mended, every letter comes back."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from botocore.exceptions import ClientError

from scripts import redrive
from scripts.redrive import Fate, NoLetters, Redrive
from tests.faults.agents import Talker, enlist
from tests.faults.soundness import assert_sound
from tests.faults.tally import Tried, tried
from tests.support.engines import KEYS, REGION, Engine, make_queue
from tests.support.faults import ANY, LOST, THROTTLED, Faults, Killed, faults_of
from tests.support.laboratory import Laboratory
from turnkeeper.domain.task import Phase
from turnkeeper.queue import task_of
from turnkeeper.store.standing import task_key
from turnkeeper.store.wire import item_to_wire

RECEIVES = 2
DELETE = "DeleteMessage"
SEND = "SendMessage"
LETTERS = 3


@dataclass
class Post:
    """A laboratory whose queue gives up on a message after it was received twice."""

    engine: Engine
    lab: Laboratory = field(init=False)
    dead: str = field(init=False)

    def __post_init__(self) -> None:
        sqs = self.engine.client("sqs")
        self.dead = make_queue(sqs)
        queue_url = make_queue(sqs, dead_letters=self.dead, receives=RECEIVES)
        self.lab = Laboratory(self.engine, sqs=sqs, queue_url=queue_url)
        enlist(self.lab, "agent", Talker)

    def task(self, text: str = "first") -> str:
        return self.lab.create(text, agent="agent").task.id

    def work(self) -> list[str]:
        """Attend to what comes until nothing does; what fails comes again at once. The tasks whose wake-ups failed."""
        failed = []
        while received := self._receive():
            for message in received:
                tried(Tried.DELIVERIES)
                try:
                    self.lab.attend(message)
                except Exception:  # noqa: BLE001 - as the function's batch processor does
                    failed.append(task_of(message["Body"]) if message["Body"].startswith("{") else "")
                    self.lab.sqs.change_message_visibility(
                        QueueUrl=self.lab.queue_url,
                        ReceiptHandle=message["ReceiptHandle"],
                        VisibilityTimeout=0,
                    )
        return failed

    def _receive(self) -> list[dict[str, Any]]:
        answer = self.lab.sqs.receive_message(QueueUrl=self.lab.queue_url, MaxNumberOfMessages=10)
        received: list[dict[str, Any]] = answer.get("Messages", [])
        return received

    def kill(self, bodies: list[str]) -> None:
        """Have letters lie among the dead, each of a line of its own."""
        for place, body in enumerate(bodies):
            self.lab.sqs.send_message(
                QueueUrl=self.dead,
                MessageBody=body,
                MessageGroupId=f"line-{place}",
                MessageDeduplicationId=f"{place}",
            )

    def lying(self, url: str) -> list[str]:
        """The bodies of what lies in a queue, seen again by the next who looks."""
        found: list[str] = []
        receipts: list[str] = []
        while received := self.lab.sqs.receive_message(
            QueueUrl=url, MaxNumberOfMessages=10, VisibilityTimeout=60
        ).get("Messages"):
            found += [message["Body"] for message in received]
            receipts += [message["ReceiptHandle"] for message in received]
        for receipt in receipts:
            self.lab.sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=receipt, VisibilityTimeout=0)
        return found

    def redrive(self) -> list[Fate]:
        return [fate for _, fate in Redrive(self.lab.sqs, self.lab.queue_url, waits_s=0).run()]


@pytest.fixture
def post(engine: Engine) -> Post:
    return Post(engine)


@pytest.fixture
def faulty(post: Post) -> Iterator[tuple[Post, Redrive, Faults]]:
    """A command whose calls may go wrong; it hides letters so briefly that the next sees them at once."""
    client = post.engine.client("sqs", attempts=1)
    with faults_of(client) as faults:
        yield post, Redrive(client, post.lab.queue_url, hidden_s=0, waits_s=0), faults


def test_a_poison_message_becomes_a_dead_letter_and_blocks_no_other_task(post: Post) -> None:
    poisoned = post.task()
    others = [post.task() for _ in range(3)]
    key = item_to_wire(task_key(poisoned))
    whole = post.lab.dynamodb.get_item(TableName=post.lab.table, Key=key)["Item"]
    post.lab.dynamodb.update_item(TableName=post.lab.table, Key=key, UpdateExpression="REMOVE terms")

    failed = post.work()

    assert failed == [poisoned] * RECEIVES
    assert {post.lab.stored(other).phase for other in others} == {Phase.IDLE}
    assert [task_of(body) for body in post.lying(post.dead)] == [poisoned]

    post.lab.dynamodb.put_item(TableName=post.lab.table, Item=whole)
    assert post.redrive() == [Fate.BROUGHT]
    assert post.work() == []

    assert_sound(post.lab, poisoned, accepted=["first"])
    assert post.lab.stored(poisoned).phase is Phase.IDLE
    assert post.lying(post.dead) == []


def test_a_letter_is_not_swallowed_as_the_wake_up_that_it_was(ministack_engine: Engine) -> None:
    post = Post(ministack_engine)  # moto forgets a deduplication id with its message
    task_id = post.task()
    (message,) = post.lab.sqs.receive_message(
        QueueUrl=post.lab.queue_url, AttributeNames=["MessageDeduplicationId"], VisibilityTimeout=0
    )["Messages"]
    for _ in range(RECEIVES):
        post.lab.sqs.receive_message(QueueUrl=post.lab.queue_url, VisibilityTimeout=0)
    assert post.lying(post.lab.queue_url) == []
    post.lab.sqs.send_message(
        QueueUrl=post.lab.queue_url,
        MessageBody=message["Body"],
        MessageGroupId=task_id,
        MessageDeduplicationId=message["Attributes"]["MessageDeduplicationId"],
    )
    assert post.lying(post.lab.queue_url) == []  # as its own former self it is taken for one that came before

    assert post.redrive() == [Fate.BROUGHT]

    assert post.lying(post.lab.queue_url) == [message["Body"]]


def test_a_letter_brought_back_stands_in_the_line_it_stood_in(post: Post) -> None:
    post.kill([json.dumps({"task": "a" * 32, "agent": "x"})])

    post.redrive()

    (message,) = post.lab.sqs.receive_message(QueueUrl=post.lab.queue_url, AttributeNames=["MessageGroupId"])[
        "Messages"
    ]
    assert message["Attributes"]["MessageGroupId"] == "line-0"
    assert json.loads(message["Body"]) == {"task": "a" * 32, "agent": "x"}


def test_more_letters_than_one_call_gives_all_come_back(post: Post) -> None:
    bodies = [json.dumps({"task": f"{n:032x}"}) for n in range(25)]
    post.kill(bodies)

    assert post.redrive() == [Fate.BROUGHT] * 25

    assert sorted(post.lying(post.lab.queue_url)) == bodies
    assert post.lying(post.dead) == []


def test_what_names_no_task_stays_and_keeps_nobody(post: Post) -> None:
    good = json.dumps({"task": "a" * 32})
    post.kill(["no JSON", good, "{}"])

    fates = post.redrive()

    assert sorted(fates) == sorted([Fate.UNREADABLE, Fate.BROUGHT, Fate.UNREADABLE])
    assert post.lying(post.lab.queue_url) == [good]
    assert sorted(post.lying(post.dead)) == ["no JSON", "{}"]


def test_a_queue_that_takes_no_more_keeps_no_letter(faulty: tuple[Post, Redrive, Faults]) -> None:
    post, command, faults = faulty
    bodies = [json.dumps({"task": f"{n:032x}"}) for n in range(LETTERS)]
    post.kill(bodies)
    faults.inject(THROTTLED, SEND, nth=2, times=None)

    fates = [fate for _, fate in command.run()]

    assert fates == [Fate.BROUGHT, Fate.REFUSED]
    assert isinstance(command.error, ClientError)
    assert len(post.lying(post.dead)) == LETTERS - 1
    faults.clear()
    assert [fate for _, fate in command.run()] == [Fate.BROUGHT] * (LETTERS - 1)
    assert sorted(post.lying(post.lab.queue_url)) == bodies


@pytest.mark.parametrize("fault", [LOST, THROTTLED], ids=str)
def test_a_letter_that_could_not_be_taken_away_is_brought_twice_and_taken_once(
    faulty: tuple[Post, Redrive, Faults], fault: Any
) -> None:
    post, command, faults = faulty
    body = json.dumps({"task": "a" * 32})
    post.kill([body])
    faults.inject(fault, DELETE)

    first = [fate for _, fate in command.run()]
    again = [fate for _, fate in command.run()]

    assert (first, again)[0][0] is Fate.STAYS
    assert set(first + again) <= {Fate.STAYS, Fate.BROUGHT}
    assert post.lying(post.lab.queue_url) == [body]
    assert post.lying(post.dead) == []


@pytest.mark.parametrize("sent", [False, True])
@pytest.mark.parametrize("nth", range(1, 2 * LETTERS + 3))
def test_whatever_call_the_command_dies_at_no_letter_is_lost(
    faulty: tuple[Post, Redrive, Faults], nth: int, *, sent: bool
) -> None:
    post, command, faults = faulty
    bodies = [json.dumps({"task": f"{n:032x}"}) for n in range(LETTERS)]
    post.kill(bodies)
    faults.die_at(ANY, nth, sent=sent)
    tried(Tried.CUTS)

    with pytest.raises(Killed):
        list(command.run())
    faults.clear()
    list(Redrive(command.client, post.lab.queue_url, waits_s=0).run())

    assert sorted(post.lying(post.lab.queue_url)) == bodies
    assert post.lying(post.dead) == []


def test_a_queue_that_has_no_dead_letters_or_is_none_is_refused(post: Post) -> None:
    for url in (post.dead, post.dead.replace(".fifo", "x.fifo"), "no address"):
        with pytest.raises(NoLetters):
            Redrive(post.lab.sqs, url)


@pytest.fixture
def commanded(ministack_engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Post:
    """A laboratory that the command finds by its arguments alone, with the credentials of a shell."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEYS["aws_access_key_id"])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEYS["aws_secret_access_key"])
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    return Post(ministack_engine)


def test_the_command_says_what_became_of_each_letter(
    commanded: Post, capsys: pytest.CaptureFixture[str]
) -> None:
    commanded.kill([json.dumps({"task": "a" * 32}), "no JSON"])
    where = ["--endpoint-url", str(commanded.engine.endpoint_url)]

    assert redrive.main(["--queue", commanded.lab.queue_url, *where]) == 1
    told = capsys.readouterr().out
    assert f"{'a' * 32}: brought back\n" in told
    assert "left where it is: it names no task" in told
    assert told.endswith("1 brought back, 1 left.\n")

    commanded.lab.sqs.purge_queue(QueueUrl=commanded.dead)
    assert redrive.main(["--queue", commanded.lab.queue_url, *where]) == 0
    assert capsys.readouterr().out == "0 brought back, 0 left.\n"
    assert redrive.main(["--queue", commanded.dead, *where]) == 2
    assert "no queue for dead letters" in capsys.readouterr().err
    assert redrive.main(["--queue", commanded.lab.queue_url, "--endpoint-url", "http://127.0.0.1:9"]) == 2


def test_a_shell_without_a_region_is_told_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)

    assert redrive.main(["--queue", "https://queue.example/q"]) == 2
    assert "region" in capsys.readouterr().err
