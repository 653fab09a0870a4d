"""Questions to live state: asked by other threads, answered between two batches by the thread that
owns the state. Reading only.

The one thread judges pages as well, and that is what it is there for: while pages come, questions
get a share of its time (`SHARE`); up to `MOST_WAITING` of them wait, and each may ask for up to
`MOST_ROWS` rows. A command that reads the state from a file may ask for any number.

QuestionError
├── BadQuestion   nobody could answer that: the name or a parameter is wrong
└── Unanswered    whoever holds the state did not come to it in time
    └── Busy      more questions wait already than are taken
"""

from __future__ import annotations

import queue
import re
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NoReturn

from reusewatch.streams.signals import to_the_end

WAIT_SECONDS = 20.0
MOST_WAITING = 64
MOST_ROWS = 1000
MOST_URLS = 10_000
# Of the time of a worker that has pages to judge.
SHARE = 0.1
# What questions may have saved up while none came: one is answered at once, and not a hundred.
_SAVED_SECONDS = 0.5

_NUMBER = re.compile("[0-9]{1,9}")

# Which stage is the one to ask, by the name of the question.
ANSWERED_BY: Mapping[str, str] = {
    "clusters": "index",
    "similar": "index",
    "reused": "index",
    "neighborhoods": "neighborhoods",
}

Rows = list[dict[str, Any]]
Parameters = Mapping[str, str]
Answer = Callable[[str, Parameters], Rows]


class QuestionError(Exception):
    """Root of what a question can come to."""


class BadQuestion(QuestionError):
    """A name or a parameter that there is not."""


class Unanswered(QuestionError):
    """No answer in time."""


class Busy(Unanswered):
    """Too many questions wait."""


@dataclass(frozen=True, slots=True)
class _Asked:
    name: str
    parameters: Parameters
    answer: Future[Rows] = field(default_factory=Future)


class Desk:
    """Where questions wait for the thread that can answer them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        # Without a bound: `queue.Queue` has one, and a Ctrl-C in it may keep its lock for ever.
        self._waiting: queue.SimpleQueue[_Asked] = queue.SimpleQueue()
        self._closed = False
        self._clock = clock
        self._served_at = clock()
        self._saved = _SAVED_SECONDS

    def ask(self, name: str, parameters: Parameters) -> Future[Rows]:
        """The answer, once the thread that serves comes to it. Raises Busy, BadQuestion."""
        if number(parameters, "top", 1) > MOST_ROWS:
            raise BadQuestion(
                f"top={parameters['top']}: a worker answers with at most {MOST_ROWS} rows: ask "
                "for fewer"
            )
        if self._waiting.qsize() >= MOST_WAITING:
            raise Busy(f"{name}: {MOST_WAITING} questions wait already; ask again later")
        asked = _Asked(name, parameters)
        self._waiting.put(asked)
        if self._closed:
            self._refuse_all()
        return asked.answer

    def close(self) -> None:
        """Refuse what waits and what is asked from now on."""
        self._closed = True
        self._refuse_all()

    def _refuse_all(self) -> None:
        with to_the_end(), suppress(queue.Empty):
            while True:
                asked = self._waiting.get_nowait()
                if asked.answer.set_running_or_notify_cancel():
                    asked.answer.set_exception(Unanswered("the worker stops; ask again later"))

    def serve(self, answer: Answer, *, idle: bool = False) -> None:
        """Answer what waits, within the share of the time that questions have.

        Nobody waits for the time of a worker that is idle. What came meanwhile waits for the next
        call, in either case: who asks without pause does not keep the worker here.
        """
        began = self._clock()
        self._saved = min(self._saved + (began - self._served_at) * SHARE, _SAVED_SECONDS)
        self._served_at = began
        for _ in range(self._waiting.qsize()):
            if self._saved <= 0 and not idle:
                return
            self._answer(self._waiting.get_nowait(), answer)
            ended = self._clock()
            self._saved -= ended - self._served_at
            self._served_at = ended

    def _answer(self, asked: _Asked, answer: Answer) -> None:
        """A question that cannot be answered does no harm to anything else."""
        # Of a future, see `to_the_end`: the thread that asked needs its lock.
        with to_the_end():
            if not asked.answer.set_running_or_notify_cancel():
                return
        try:
            rows = answer(asked.name, asked.parameters)
        except Exception as error:  # the asker's to see: state is only read here
            with to_the_end():
                asked.answer.set_exception(error)
        else:
            with to_the_end():
                asked.answer.set_result(rows)


def no_questions(name: str, parameters: Parameters) -> NoReturn:
    """The answer of a stage that is not the one to ask."""
    stage = ANSWERED_BY.get(name)
    if stage is None:
        raise BadQuestion(f"{name}: there is no such question; ask {', '.join(ANSWERED_BY)}")
    raise BadQuestion(
        f"{name}: this worker is of another stage; the stage {stage} answers it: name a worker of "
        f"`work {stage}` with --at HOST:PORT, the port that serves its metrics"
    )


def number(parameters: Parameters, name: str, default: int) -> int:
    """A parameter that counts something."""
    text = parameters.get(name, str(default))
    if not _NUMBER.fullmatch(text) or int(text) < 1:
        raise BadQuestion(f"{name}={text[:20]}: a number from 1 to 999999999 is expected")
    return int(text)
