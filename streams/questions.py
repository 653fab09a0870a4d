"""Questions to live state: asked by other threads, answered between two batches by the thread that
owns the state. Reading only.

QuestionError
├── BadQuestion   nobody could answer that: the name or a parameter is wrong
└── Unanswered    whoever holds the state did not come to it in time
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

WAIT_SECONDS = 20.0

Rows = list[dict[str, Any]]
Parameters = Mapping[str, str]
Answer = Callable[[str, Parameters], Rows]


class QuestionError(Exception):
    """Root of what a question can come to."""


class BadQuestion(QuestionError):
    """A name or a parameter that there is not."""


class Unanswered(QuestionError):
    """No answer in time."""


@dataclass(frozen=True, slots=True)
class _Asked:
    name: str
    parameters: Parameters
    answer: Future[Rows] = field(default_factory=Future)


class Desk:
    """Where questions wait for the thread that can answer them."""

    def __init__(self) -> None:
        self._waiting: queue.SimpleQueue[_Asked] = queue.SimpleQueue()

    def ask(self, name: str, parameters: Parameters, *, seconds: float = WAIT_SECONDS) -> Rows:
        """The answer, in any thread but the one that serves."""
        asked = _Asked(name, parameters)
        self._waiting.put(asked)
        try:
            return asked.answer.result(seconds)
        except TimeoutError:
            asked.answer.cancel()
            raise Unanswered(f"{name}: no answer within {seconds:.0f} s; ask again later") from None

    def serve(self, answer: Answer) -> None:
        """Answer what waits. A question that cannot be answered does no harm to anything else."""
        while True:
            try:
                asked = self._waiting.get_nowait()
            except queue.Empty:
                return
            if not asked.answer.set_running_or_notify_cancel():
                continue
            try:
                asked.answer.set_result(answer(asked.name, asked.parameters))
            except Exception as error:  # the asker's to see: state is only read here
                asked.answer.set_exception(error)


def no_questions(name: str, parameters: Parameters) -> Rows:
    """The answer of a stage that keeps nothing."""
    raise BadQuestion(f"{name}: this stage answers no questions")


def number(parameters: Parameters, name: str, default: int) -> int:
    """A parameter that counts something."""
    text = parameters.get(name, str(default))
    if not text.isdecimal() or not int(text):
        raise BadQuestion(f"{name}={text}: a number from 1 on is expected")
    return int(text)
