"""Peers are judged by what they say afterwards; the judge is shown wrong ones first."""

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from bench import peers
from bench.peers import floor, timing, trials
from bench.peers.conversation import Line, NoSuchConversation, PeerFailed, Poll, Role
from bench.peers.servers import Server
from bench.peers.verdicts import Fate, Seen, counted, judge
from bench.tables import markdown
from offline.engine import free_port

ASKED = Line(Role.PERSON, "0 hello")
ANSWERED = Line(Role.AGENT, "echo 0 hello")


@dataclass
class Said:
    """An input, and when its answer is there."""

    text: str
    at: float
    ready: float
    answers: int = 1


@dataclass
class Fake:
    """A peer in this process; *wrong* says what it does to inputs that are not answered yet when it is killed."""

    wrong: Callable[[list[Said], float], list[Said]] = lambda said, _: said
    name: str = "fake"
    how: str = "in this process"
    command: str = "none"
    patience_s: float = 0.2
    ages_s: Sequence[float] = (0.0, 0.02)
    said: dict[str, list[Said]] = field(default_factory=dict)
    port: int = 0
    crashed: float = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        with answering() as self.port:
            yield

    def versions(self) -> Mapping[str, str]:
        return {"fake": "1"}

    def create(self, text: str) -> str:
        conversation = str(len(self.said))
        self.said[conversation] = []
        self.send(conversation, text)
        return conversation

    def send(self, conversation: str, text: str) -> int:
        earlier = self.said[conversation]
        begins = max([time.monotonic(), *(one.ready for one in earlier)])
        earlier.append(Said(text, time.monotonic(), begins + float(text.partition(" ")[0])))
        return 202

    def is_busy(self, conversation: str) -> bool:
        return any(one.ready > time.monotonic() for one in self._known(conversation))

    def lines(self, conversation: str) -> Sequence[Line]:
        found = []
        for one in self._known(conversation):
            found.append(Line(Role.PERSON, one.text))
            if one.ready <= time.monotonic():
                found += one.answers * [Line(Role.AGENT, f"echo {one.text}")]
        return found

    def filled(self, messages: int) -> str:
        conversation = self.create("0 hello")
        for number in range(messages // 2 - 1):
            self.send(conversation, f"0 {number}")
        return conversation

    def polls(self, conversation: str) -> Sequence[Poll]:
        return [Poll("GET /", self.port, f"/{conversation}")]

    def processes(self) -> Sequence[int]:
        return [os.getpid()]

    def crash(self) -> None:
        self.crashed = time.monotonic()
        for conversation, said in list(self.said.items()):
            young = [one for one in said if one.ready > self.crashed]
            if young and not (left := self.wrong(young, self.crashed)):
                del self.said[conversation]
            elif young:
                self.said[conversation] = [one for one in said if one not in young] + left

    def start_again(self) -> None: ...

    def pass_time(self) -> None: ...

    def _known(self, conversation: str) -> list[Said]:
        if conversation not in self.said:
            raise NoSuchConversation(conversation)
        return self.said[conversation]


def loses(_: list[Said], __: float) -> list[Said]:
    return []


def answers_twice(said: list[Said], _: float) -> list[Said]:
    return [Said(one.text, one.at, one.ready, answers=2) for one in said]


def forgets(said: list[Said], now: float) -> list[Said]:
    return [Said(one.text, one.at, now, answers=0) for one in said]


def hangs(said: list[Said], now: float) -> list[Said]:
    return [Said(one.text, one.at, now + 60) for one in said]


class Status(BaseHTTPRequestHandler):
    """A status that never changes, with an ETag."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_GET(self) -> None:
        is_known = self.headers["if-none-match"] == '"1"'
        body = b"" if is_known else b'{"phase": "idle"}'
        self.send_response(503 if self.path == "/broken" else 304 if is_known else 200)
        self.send_header("ETag", '"1"')
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002 - its base calls it so


@contextmanager
def answering() -> Iterator[int]:
    """The port of a server of `Status`."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Status) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def port() -> Iterator[int]:
    with answering() as found:
        yield found


@pytest.mark.parametrize(
    ("lines", "busy", "fate"),
    [
        ([ASKED, ANSWERED], False, Fate.ANSWERED),
        ([ANSWERED, ASKED], False, Fate.ANSWERED),
        ([ASKED, ANSWERED, ANSWERED], False, Fate.TWICE),
        ([ASKED, ASKED, ANSWERED, ANSWERED], False, Fate.TWICE),
        ([ASKED], False, Fate.FORGOTTEN),
        ([ASKED, Line(Role.AGENT, "echo 0 another")], False, Fate.FORGOTTEN),
        ([ASKED], True, Fate.STUCK),
        ([], True, Fate.STUCK),
        ([], False, Fate.GONE),
        ([Line(Role.PERSON, "0 another")], False, Fate.GONE),
        (None, False, Fate.GONE),
    ],
)
def test_an_inputs_fate_is_what_the_conversation_shows(
    lines: list[Line] | None, fate: Fate, *, busy: bool
) -> None:
    assert judge("0 hello", Seen(lines, busy)) is fate


def test_fates_that_were_not_met_are_counted_too() -> None:
    told = counted([Fate.GONE, Fate.GONE, Fate.ANSWERED])

    assert told == {**dict.fromkeys(Fate, 0), Fate.GONE: 2, Fate.ANSWERED: 1}


@pytest.mark.parametrize(
    ("wrong", "fate"),
    [
        (loses, Fate.GONE),
        (answers_twice, Fate.TWICE),
        (forgets, Fate.FORGOTTEN),
        (hangs, Fate.STUCK),
        (lambda said, _: said, Fate.ANSWERED),
    ],
)
def test_a_kill_tells_a_peer_that_keeps_its_word_from_one_that_does_not(
    wrong: Callable[[list[Said], float], list[Said]], fate: Fate
) -> None:
    told = trials.killed(Fake(wrong), kills=1, ages=(0.0, 0.02), pause="0.3")

    assert told["fates"] == {**dict.fromkeys(Fate, 0), fate: 2}
    assert (told["tries"], told["left_out"]) == (2, 0)
    assert told["answered_before_and_gone"] == (2 if fate is Fate.GONE else 0)


def test_a_kill_comes_when_inputs_are_as_old_as_was_said() -> None:
    peer = Fake()

    trials.killed(peer, kills=1, ages=(0.1, 0.2), pause="0.5")

    old = sorted(peer.crashed - said[-1].at for said in peer.said.values())
    assert 0.09 <= old[0] < 0.19 <= old[1]


def test_an_input_that_was_answered_before_the_kill_tells_nothing() -> None:
    told = trials.killed(Fake(loses), kills=1, ages=(0.0, 0.15), pause="0.1")

    assert (told["tries"], told["left_out"]) == (1, 1)


def test_a_peer_that_refuses_an_input_is_not_taken_for_one_that_lost_it() -> None:
    class Refuses(Fake):
        def send(self, conversation: str, text: str) -> int:
            return super().send(conversation, text) if not self.said[conversation] else 409

    with pytest.raises(PeerFailed, match="refused an input with 409"):
        trials.killed(Refuses(), kills=1, ages=(0.0,), pause="0.1")


def test_input_while_busy_is_seen_waiting_and_answered() -> None:
    told = trials.sent_while_busy(Fake(), times=1, pause="0.4")

    assert (told["was_busy"], told["statuses"], told["shown_while_it_waits"]) == (1, [202], 1)
    assert told["fates"][Fate.ANSWERED] == 1


def test_a_peer_that_drops_input_while_it_is_busy_is_seen() -> None:
    class Drops(Fake):
        def send(self, conversation: str, text: str) -> int:
            return 200 if self.is_busy(conversation) else super().send(conversation, text)

    told = trials.sent_while_busy(Drops(), times=1, pause="0.4")

    assert (told["statuses"], told["shown_while_it_waits"]) == ([200], 0)
    assert told["fates"][Fate.GONE] == 1


def test_a_life_is_timed_from_create_to_idle() -> None:
    assert trials.lives(Fake(), times=2)["create_to_idle_ms"]["min"] >= 0


def test_a_poll_is_compared_with_the_floor_pair_by_pair(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "MOMENT_S", 0.01)
    way = Poll("GET /", port, "/x")
    told = trials.beside(way, Poll("floor", port, "/"), rounds=3, processes=lambda: [os.getpid()])

    assert told["body_bytes"] == len('{"phase": "idle"}')
    assert told["all_bytes"] > told["body_bytes"] + len('ETag: "1"')
    pairs = zip(told["per_second"]["runs"], told["floor_per_second"]["runs"], strict=True)
    assert told["ratio"]["runs"] == [mine / bare for mine, bare in pairs]
    assert len(told["ratio"]["runs"]) == 3
    assert told["p50_ms"]["median"] <= told["p95_ms"]["median"]


def test_an_unchanged_poll_is_measured_where_there_is_an_etag(port: int) -> None:
    first, unchanged = trials.with_unchanged([Poll("GET /", port, "/x")])

    assert (first.what, unchanged.what) == ("GET /", "unchanged: GET /")
    assert (timing.size(first).body, timing.size(unchanged).body) == (17, 0)


def test_an_answer_that_is_none_is_not_timed(port: int) -> None:
    with pytest.raises(PeerFailed, match="answered with 503"):
        timing.burst(Poll("GET /broken", port, "/broken"), 0.01)


def test_a_peer_that_does_not_start_is_told_and_spoils_no_other(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(Fake):
        @contextmanager
        def running(self) -> Iterator[None]:
            if not self.said:
                raise PeerFailed(f"it did not come up: {peers.installing.ROOT}/.peers is empty")
            yield

    @contextmanager
    def bare() -> Iterator[Poll]:
        yield Poll("floor", port, "/")

    monkeypatch.setattr(floor, "bare", bare)
    monkeypatch.setattr(trials, "MOMENT_S", 0.01)
    monkeypatch.setattr(peers, "PEERS", {"broken": Broken, "fake": Fake})

    found = peers.measure(1, only=("broken", "fake"), quick=True)

    assert found["peers"]["broken"] == {"failed": "PeerFailed: it did not come up: …/.peers is empty"}
    assert [poll["messages"] for poll in found["peers"]["fake"]["polls"]] == [2, 2, 50, 50]
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    shown = "\n".join(markdown(table) for table in peers.tables(found))
    assert "| broken | PeerFailed: it did not come up" in shown
    assert "fake: unchanged: GET /" in shown
    assert [len(plot.lines) for plot in peers.plots(found)] == [1, 1]


def test_whatever_else_goes_wrong_is_a_defect_of_ours(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def bare() -> Iterator[Poll]:
        yield Poll("floor", port, "/")

    def none() -> Any:
        raise KeyError("ours")

    monkeypatch.setattr(floor, "bare", bare)
    monkeypatch.setattr(peers, "PEERS", {"fake": none})

    with pytest.raises(KeyError, match="ours"):
        peers.measure(1, only=("fake",))


SERVE = """
import http.server, subprocess, sys
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), http.server.SimpleHTTPRequestHandler).serve_forever()
"""


def test_a_server_is_killed_with_all_that_it_started(tmp_path: Path) -> None:
    port = free_port()
    command = [sys.executable, "-c", SERVE, str(port)]
    server = Server(command, folder=tmp_path, health=f"http://127.0.0.1:{port}/")
    server.start()
    found = server.processes()

    server.kill()

    assert len(found) == 3  # the leash, the server, and what it started
    deadline = time.monotonic() + 10
    while any(is_there(pid) for pid in found):
        assert time.monotonic() < deadline, "it outlives the kill"
        time.sleep(0.01)


def is_there(pid: int) -> bool:
    """Whether the process *pid* runs."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_server_that_does_not_come_up_says_what_it_said(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "print('no such option'); raise SystemExit(2)"]
    server = Server(command, folder=tmp_path, health="http://127.0.0.1:9/")

    with pytest.raises(PeerFailed, match="no such option"):
        server.start()
    assert server.processes() == []


def test_a_server_is_told_nothing_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGSMITH_API_KEY", "ours")

    told = Server([], folder=tmp_path, health="").environment

    assert set(told) >= {"PATH", "HOME", "DO_NOT_TRACK", "HTTPS_PROXY"}
    assert "ours" not in told.values()


def test_every_lock_is_hashed_and_says_where_nothing_came_from() -> None:
    locks = [*Path(peers.installing.ROOT, "requirements", "peers").glob("*.txt")]
    npm = (peers.installing.LOCKED / "package-lock.json").read_text()

    assert sorted(lock.stem for lock in locks) == sorted(peers.installing.ENVIRONMENTS)
    for told in (npm, *(lock.read_text() for lock in locks)):
        assert "://" not in told
    for lock in locks:
        assert lock.read_text().count("==") <= lock.read_text().count("--hash=sha256:")
