"""Alerts that are sent on: to a real server on loopback and to real commands, from a real bus."""

from __future__ import annotations

import json
import os
import shlex
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from msgspec.structs import replace

from reusewatch.streams import topics
from reusewatch.streams.bus import Message, Outgoing, Partition, PastRetention
from reusewatch.streams.environment import set_for_us
from reusewatch.streams.local import LocalBus
from reusewatch.streams.records import Alert
from reusewatch.streams.signals import Stop
from reusewatch.streams.verbs.choosing import AlertChoice
from reusewatch.streams.verbs.delivering import Command, Delivery, Event, Later, Refused, Webhook
from reusewatch.streams.verbs.delivering import Taken as WasTaken
from reusewatch.streams.verbs.notify import BackOff, NotTaken, Sending
from reusewatch.streams.wire import alert_message, headers_for, withdrawal
from tests.command import run
from tests.deployed import free_port
from tests.streams.made_alerts import made
from tests.streams.memory_bus import MemoryBus, MemoryInlet

AT_ONCE = BackOff(first=0.0, longest=0.0, patience=1e9)


@dataclass
class Received:
    """What a server got, and what it answers: these statuses, then 200."""

    address: str = ""
    statuses: list[int] = field(default_factory=list)
    requests: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)

    @property
    def ids(self) -> list[str]:
        return [headers["ce-id"] for _, headers, _ in self.requests]


@contextmanager
def serving(received: Received) -> Iterator[Received]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            received.requests.append((self.path, headers, body))
            status = received.statuses.pop(0) if received.statuses else 200
            self.send_response(status)
            self.send_header("Location", f"{received.address}/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
            """Requests are not news."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        # Its thread looks that often whether it is to end.
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        received.address = f"http://127.0.0.1:{server.server_address[1]}"
        yield received
        server.shutdown()


@pytest.fixture
def received() -> Iterator[Received]:
    with serving(Received()) as received:
        yield received


def on(bus: LocalBus, *sent: Outgoing) -> LocalBus:
    outlet = bus.outlet()
    for one in sent:
        outlet.send(one)
    outlet.close()
    return bus


def event(alert: Alert) -> Event:
    sent = alert_message(alert)
    return Event.of(Message(Partition("a", 0), 0, sent.key, sent.value, sent.headers, 0), alert)


class Stopping:
    """Sends on, and asks for a stop when so many were sent."""

    def __init__(self, delivery: Delivery, stop: Stop, after: int) -> None:
        self.name = delivery.name
        self._delivery, self._stop, self._left = delivery, stop, after

    def send(self, event: Event) -> WasTaken | Refused | Later:
        self._left -= 1
        if self._left <= 0:
            self._stop.set()
        return self._delivery.send(event)


def sent_from(
    bus: LocalBus, delivery: Delivery, after: int, chosen: AlertChoice | None = None,
    back_off: BackOff = AT_ONCE,
) -> tuple[Sending, list[str]]:  # fmt: skip
    """Send until a stop is asked for with the last of so many attempts."""
    stop, said = Stop(), list[str]()
    inlet = bus.inlet("notify-test", [topics.ALERTS], sole=True)
    sending = Sending(
        inlet, Stopping(delivery, stop, after), chosen or AlertChoice(), stop, back_off, said.append
    )
    try:
        sending.run()
    finally:
        inlet.close()
    return sending, said


def test_a_webhook_gets_a_cloud_event(tmp_path: Path, received: Received) -> None:
    alert = made(1)
    bus = on(LocalBus(tmp_path), alert_message(alert, stage="neighborhoods"))
    sending, _ = sent_from(bus, Webhook(f"{received.address}/hook?key=1"), 1)
    ((path, headers, body),) = received.requests
    told = json.loads(body)
    assert path == "/hook?key=1"
    assert headers["content-type"].startswith("application/cloudevents+json")
    assert told["data"]["id"] == told["id"] == headers["ce-id"] == alert.id
    assert told["type"] == headers["ce-type"] == "reusewatch.alert.duplicate"
    assert told["source"] == headers["ce-source"] == "/reusewatch/neighborhoods"
    assert told["time"] == headers["ce-time"] == told["data"]["detected_at"]
    assert (told["specversion"], told["datacontenttype"]) == ("1.0", "application/json")
    assert (sending.sent.taken, sending.sent.dead_letters) == (1, 0)


def test_it_goes_on_where_it_was_in_order(tmp_path: Path, received: Received) -> None:
    alerts = [made(number) for number in range(5)]
    bus = on(LocalBus(tmp_path), *map(alert_message, alerts))
    hook = Webhook(received.address)
    sent_from(bus, hook, 2)
    sent_from(bus, hook, 1)
    on(bus, alert_message(made(9)), withdrawal(alerts[4].id, "duplicate"))
    sent_from(bus, hook, 3)
    assert received.ids == [made(number).id for number in (0, 1, 2, 3, 9, 4)]


@pytest.mark.parametrize("first", ["withdrawal", "successor"])
def test_a_withdrawal_and_its_successor_are_both_sent(
    tmp_path: Path, received: Received, first: str
) -> None:
    wrong, right = made(0), made(1)
    bus, hook = on(LocalBus(tmp_path), alert_message(wrong)), Webhook(received.address)
    sent_from(bus, hook, 1)
    both = [withdrawal(wrong.id, "duplicate"), alert_message(right)]
    on(bus, *(both if first == "withdrawal" else both[::-1]))
    sent_from(bus, hook, 2)
    told = [json.loads(body) for _, _, body in received.requests]
    states = {one["data"]["id"]: one["data"]["state"] for one in told}
    assert len(told) == 3
    assert states == {wrong.id: "withdrawn", right.id: "open"}
    (gone,) = [one for one in told if one["data"]["state"] == "withdrawn"]
    assert gone["id"] == wrong.id
    assert gone["type"] == "reusewatch.alert.duplicate"
    assert gone["data"]["kind"] == "duplicate"
    # Who takes each source and id once takes both.
    assert gone["source"] != told[0]["source"]


def test_a_command_reads_a_withdrawal_as_json(tmp_path: Path) -> None:
    bus, out = on(LocalBus(tmp_path / "bus"), alert_message(made(0))), tmp_path / "out"
    command = Command(f"tee -a {shlex.quote(str(out))}")
    sent_from(bus, command, 1)
    on(bus, withdrawal(made(0).id))
    sent_from(bus, command, 1)
    told = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(one["id"], one["state"]) for one in told] == [
        (made(0).id, "open"), (made(0).id, "withdrawn"),
    ]  # fmt: skip
    assert told[1]["kind"] is None


def test_a_withdrawal_of_what_this_never_sent_is_not_sent(
    tmp_path: Path, received: Received
) -> None:
    bus = on(LocalBus(tmp_path), alert_message(made(0)), alert_message(made(1)))
    on(bus, withdrawal(made(0).id), alert_message(made(2)))
    sent_from(bus, Webhook(received.address), 2)
    assert received.ids == [made(1).id, made(2).id]


def test_what_is_withdrawn_while_the_first_alerts_are_sent_is_sent(
    tmp_path: Path, received: Received
) -> None:
    bus, stop = on(LocalBus(tmp_path), alert_message(made(0))), Stop()
    inlet = bus.inlet("notify-test", [topics.ALERTS], sole=True)
    hook = Stopping(Webhook(received.address), stop, 2)
    sending = Sending(inlet, hook, AlertChoice(), stop, AT_ONCE)
    sending.some()
    on(bus, withdrawal(made(0).id))
    sending.run()
    inlet.close()
    assert received.ids == [made(0).id] * 2


def test_withdrawals_of_other_kinds_are_not_sent(tmp_path: Path, received: Received) -> None:
    bus, hook = on(LocalBus(tmp_path), alert_message(made(0, kind="quilt"))), received.address
    sent_from(bus, Webhook(hook), 1, AlertChoice(kind="quilt"))
    on(bus, withdrawal(made(1).id, "duplicate"), withdrawal(made(0).id, "quilt"))
    sent_from(bus, Webhook(hook), 1, AlertChoice(kind="quilt"))
    assert received.ids == [made(0).id] * 2


@pytest.mark.parametrize("value", [b"alert", None])
def test_what_names_no_alert_is_a_dead_letter(
    tmp_path: Path, received: Received, value: bytes | None
) -> None:
    nameless = alert_message(replace(made(0), id=""))
    bus = on(LocalBus(tmp_path), alert_message(made(1)))
    sent_from(bus, Webhook(received.address), 1)
    sent = nameless if value else Outgoing(topics.ALERTS, "", None, nameless.headers)
    on(bus, sent, alert_message(made(2)))
    sending, said = sent_from(bus, Webhook(received.address), 1)
    assert received.ids == [made(1).id, made(2).id]
    assert sending.sent.dead_letters == 1
    assert said[0].startswith("dead letter: offset 1: ")


def test_what_fails_is_sent_again_before_what_comes_behind(
    tmp_path: Path, received: Received
) -> None:
    bus = on(LocalBus(tmp_path), alert_message(made(0)), alert_message(made(1)))
    received.statuses = [500, 503, 429, 408, 200]
    sending, said = sent_from(bus, Webhook(received.address), 6)
    assert received.ids == [made(0).id] * 5 + [made(1).id]
    assert sending.sent.taken == 2
    assert len([line for line in said if "again in" in line]) == 4


def test_what_is_refused_is_a_dead_letter_and_holds_nothing_up(
    tmp_path: Path, received: Received
) -> None:
    bus = on(LocalBus(tmp_path), *(alert_message(made(number)) for number in range(3)))
    received.statuses = [404, 302, 200]
    sending, said = sent_from(bus, Webhook(received.address), 3)
    assert (sending.sent.taken, sending.sent.dead_letters) == (1, 2)
    assert [f"alert {made(0).id}: answered 404" in said[0], "redirects" in said[1]] == [True, True]
    assert [path for path, _, _ in received.requests] == ["/"] * 3  # nobody went elsewhere


def test_a_stop_while_it_waits_leaves_the_alert_for_the_next_start(
    tmp_path: Path, received: Received
) -> None:
    bus = on(LocalBus(tmp_path), alert_message(made(0)))
    received.statuses = [500]
    waiting = BackOff(first=3600.0, longest=3600.0, patience=1e9)
    sending, _ = sent_from(bus, Webhook(received.address), 1, back_off=waiting)
    assert sending.sent.taken == 0
    assert sent_from(bus, Webhook(received.address), 1)[0].sent.taken == 1
    assert received.ids == [made(0).id] * 2


def test_it_gives_up_in_the_end_and_loses_nothing(tmp_path: Path, received: Received) -> None:
    bus = on(LocalBus(tmp_path), alert_message(made(0)))
    nobody = Webhook(f"http://127.0.0.1:{free_port()}/secret")
    with pytest.raises(NotTaken, match="given up") as raised:
        sent_from(bus, nobody, 9, back_off=BackOff(first=1.0, patience=0.5))
    assert "secret" not in str(raised.value)
    assert sent_from(bus, Webhook(received.address), 1)[0].sent.taken == 1


def test_only_what_is_chosen_is_sent(tmp_path: Path, received: Received) -> None:
    alerts = [made(0), made(1, kind="quilt"), made(2), made(3, kind="quilt")]
    bus = on(LocalBus(tmp_path), *map(alert_message, alerts))
    sent_from(bus, Webhook(received.address), 2, AlertChoice(kind="quilt"))
    assert received.ids == [alerts[1].id, alerts[3].id]


def test_what_cannot_be_read_is_a_dead_letter(tmp_path: Path, received: Received) -> None:
    garbage = Outgoing(topics.ALERTS, "x", b"{", headers_for(topics.ALERTS))
    bus = on(LocalBus(tmp_path), garbage, alert_message(made(1)))
    sending, said = sent_from(bus, Webhook(received.address), 1)
    assert (sending.sent.taken, sending.sent.dead_letters) == (1, 1)
    assert said[0].startswith("dead letter: offset 0: not a Alert")


def test_an_alert_s_own_text_makes_no_header() -> None:
    alert = made(1)
    hostile = event(alert).of(
        Message(Partition("a", 0), 0, "", b"{}", (("ce_source", b"/x\r\nEvil: 1"),), 0),
        Alert(
            **{name: getattr(alert, name) for name in alert.__struct_fields__} | {"id": "a\r\nb"}
        ),
    )
    assert hostile.attributes["id"] == "a%0D%0Ab"
    assert hostile.attributes["source"] == "/reusewatch"


def test_a_server_that_drips_or_says_nothing_holds_nobody() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        hook = Webhook(f"http://127.0.0.1:{server.getsockname()[1]}/", seconds=0.05)
        assert isinstance(hook.send(event(made(1))), Later)


@pytest.mark.parametrize(
    "url",
    ["", "ftp://h/", "http://", "http://user:pw@h/", "http://h/a b", "http://h:x/", "http://h/é"],
)
def test_what_can_be_no_webhook_is_refused(url: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the standard library's own for a port
        Webhook(url)


def test_a_command_reads_the_alert_without_a_shell(tmp_path: Path) -> None:
    alert, out = made(1), tmp_path / "$(echo out)"
    answer = Command(f"tee {shlex.quote(str(out))}").send(event(alert))
    assert isinstance(answer, WasTaken)
    assert out.read_bytes() == (alert_message(alert).value or b"") + b"\n"


def test_a_command_inherits_what_its_owner_set_and_nothing_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ITS_OWNERS", "a")
    monkeypatch.delenv("OF_OURS", raising=False)
    set_for_us("ITS_OWNERS", "b")
    set_for_us("OF_OURS", "c")
    out = tmp_path / "out"
    answer = Command(f"sh -c 'env > {shlex.quote(str(out))}'").send(event(made(1)))
    assert isinstance(answer, WasTaken)
    assert "ITS_OWNERS=a" in out.read_text().splitlines()
    assert "OF_OURS" in os.environ
    assert "OF_OURS" not in out.read_text()
    monkeypatch.delenv("OF_OURS")


@pytest.mark.parametrize(
    ("command", "answer"),
    [("false", Later), ("sh -c 'exit 65'", Refused), ("sleep 60", Later), ("true", WasTaken)],
)
def test_how_a_command_ends_is_its_answer(command: str, answer: type) -> None:
    seconds = 0.05 if command.startswith("sleep") else 60.0
    assert isinstance(Command(command, seconds=seconds).send(event(made(1))), answer)


@pytest.mark.parametrize("command", ["", "no-such-command-anywhere", "'"])
def test_a_command_that_is_none_is_refused(command: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - of shlex, too
        Command(command)


class _Anew(MemoryInlet):
    """An inlet whose first poll finds another bus than the one that was committed on."""

    anew = True

    def poll(self, timeout: float) -> list[Message]:
        found = list(super().poll(timeout))
        if self.anew:
            self.anew = False
            raise PastRetention("offset 40 is to be read next, the topic now starts at 0")
        return found


def test_a_bus_that_was_begun_anew_is_noticed(received: Received) -> None:
    bus, stop, said = MemoryBus(), Stop(), list[str]()
    bus.append(alert_message(made(1)))
    bus.commits["notify-test", Partition(topics.ALERTS, 0)] = 1
    inlet = _Anew(bus, "notify-test", [topics.ALERTS], None, None)
    hook = Stopping(Webhook(received.address), stop, 1)
    Sending(inlet, hook, AlertChoice(), stop, AT_ONCE, said.append).run()
    assert received.ids == [made(1).id]
    assert "begun anew" in said[0]


def test_a_local_bus_that_was_begun_anew_is_sent_from_its_beginning(
    tmp_path: Path, received: Received
) -> None:
    for name in ("before", "anew"):
        bus = on(LocalBus(tmp_path / name), alert_message(made(1)))
        (tmp_path / name).rename(tmp_path / "bus")
        sent_from(LocalBus(tmp_path / "bus"), Webhook(received.address), 1)
        (tmp_path / "bus").rename(tmp_path / f"{name}-aside")
        bus.close()
    assert received.ids == [made(1).id] * 2


def test_wrong_use_is_2(tmp_path: Path) -> None:
    for arguments in (
        ["--exec", "true", "--webhook", "http://h/"],
        ["--exec", "true", "--kind", "x"],
    ):
        done = run("notify", *arguments, cwd=tmp_path)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("reusewatch: ")


def test_the_command_sends_says_and_ends_with_its_code(tmp_path: Path) -> None:
    on(LocalBus(tmp_path / "bus"), alert_message(made(1)))
    script = "import os, sys; sys.stdout.write(sys.stdin.read()); os.kill(os.getppid(), 15)"
    command = shlex.join([sys.executable, "-c", script])
    done = run("notify", "--exec", command, "--bus", "local:bus", cwd=tmp_path)
    assert done.code == 0, done.err
    assert done.objects[0]["id"] == made(1).id
    assert "1 sent, 0 dead letters" in done.err
