"""The endpoints of a worker: its metrics, whether it is well, and questions to its state.

Loopback unless configured otherwise. Answers; never changes what it is asked about. Probes are
answered in the event loop, and wait for nothing. Work is done in threads.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol
from urllib.parse import parse_qsl

import msgspec
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from reusewatch.detector.errors import DetectorError
from reusewatch.streams.questions import WAIT_SECONDS, BadQuestion, Parameters, Rows, Unanswered
from reusewatch.streams.running.askers import refusal
from reusewatch.streams.running.crawl_metrics import CrawlMeters
from reusewatch.streams.running.metrics import Meters
from reusewatch.streams.running.port import Limits, Port
from reusewatch.streams.running.prefix_answers import PrefixAnswers

_LONGEST_QUESTION = 1 << 20
_MOST_PARAMETERS = 100
_AGAIN_SECONDS = 5
_THERE_IS = "/metrics, /healthz, /readyz, /prefixes and /questions/NAME"


class Watched(Protocol):
    """What Health asks."""

    def trouble(self) -> str | None:
        """Why the process should be restarted, if it should."""

    def ready(self) -> bool:
        """Whether it is through with recovery and reads."""

    def ask(self, name: str, parameters: Parameters) -> Future[Rows]:
        """The answer to a question to its state, later. Raises BadQuestion, Unanswered."""


class Health:
    """/metrics, /healthz, /readyz, /questions/NAME and /prefixes on one port, loopback unless
    configured. `prefixes` closes with it."""

    def __init__(
        self,
        meters: Meters | CrawlMeters,
        host: str,
        port: int,
        watched: Watched,
        *,
        prefixes: PrefixAnswers,
        question_hosts: Collection[str] = (),
        limits: Limits = Limits(),  # noqa: B008 - frozen
    ) -> None:
        names = frozenset(name.lower() for name in (host, *question_hosts))
        self._prefixes = prefixes
        self._port = Port(endpoints(meters, watched, prefixes, names), host, port, limits)
        self.port = self._port.number

    def close(self) -> None:
        """Stop serving."""
        self._prefixes.close()
        self._port.close()


def endpoints(
    meters: Meters | CrawlMeters, watched: Watched, prefixes: PrefixAnswers, names: Collection[str]
) -> Starlette:
    """The app. `names`: hosts that a question may be put to, beside loopback."""
    asked = _Endpoints(meters, watched, prefixes, names)
    app = Starlette(
        routes=[
            Route("/metrics", asked.metrics),
            Route("/healthz", asked.healthz),
            Route("/readyz", asked.readyz),
            Route("/prefixes", asked.prefixes_now),
            Route("/questions/{name:path}", asked.question, methods=["GET", "POST"]),
        ],
        exception_handlers={
            404: lambda request, error: _text(f"there is {_THERE_IS}", 404),
            BadQuestion: lambda request, error: _text(str(error), 400),
            Unanswered: _come_again,
            # The client has gone: this answer goes nowhere.
            ClientDisconnect: lambda request, error: Response(status_code=400),
        },
        max_body_size=_LONGEST_QUESTION,
    )
    # A redirect would name whatever host the client said.
    app.router.redirect_slashes = False
    return app


@dataclass(frozen=True, slots=True)
class _Endpoints:
    meters: Meters | CrawlMeters
    watched: Watched
    prefixes: PrefixAnswers
    names: Collection[str]

    async def metrics(self, request: Request) -> Response:
        text = await asyncio.to_thread(self.meters.exposition)
        return Response(text, media_type=CONTENT_TYPE_LATEST)

    async def healthz(self, request: Request) -> Response:
        trouble = self.watched.trouble()
        return _text(trouble or "ok", 503 if trouble else 200)

    async def readyz(self, request: Request) -> Response:
        return _text("ready", 200) if self.watched.ready() else _text("not ready", 503)

    async def question(self, request: Request) -> Response:
        self._refuse(request)
        if not self.watched.ready():
            # A state that is half rebuilt would be answered for as if it were all.
            raise Unanswered("not ready")
        query = await request.body() if request.method == "POST" else request.url.query.encode()
        answer = await asyncio.to_thread(self._ask, request.path_params["name"], query)
        try:
            rows = await asyncio.wait_for(asyncio.wrap_future(answer), WAIT_SECONDS)
        except TimeoutError:
            raise Unanswered(f"no answer within {WAIT_SECONDS:.0f} s; ask again later") from None
        except (DetectorError, ValueError, OverflowError) as error:
            raise BadQuestion(str(error)) from error
        said = {"as_of": datetime.now(UTC), "answers": rows}
        return Response(msgspec.json.encode(said), media_type="application/json")

    def _ask(self, name: str, query: bytes) -> Future[Rows]:
        try:
            parameters = parse_qsl(
                query.decode("ascii", "replace"), max_num_fields=_MOST_PARAMETERS
            )
        except ValueError as error:
            raise BadQuestion(str(error)) from error
        return self.watched.ask(name, dict(parameters))

    async def prefixes_now(self, request: Request) -> Response:
        self._refuse(request)
        asked = dict(parse_qsl(request.url.query, keep_blank_values=True))
        known = [tag.strip() for tag in request.headers.get("If-None-Match", "").split(",")]
        found = await self.prefixes.answer(asked, known)
        tag = {"ETag": found.etag}
        if found.body is None:
            return Response(status_code=304, headers=tag)
        return Response(found.body, headers=tag, media_type="text/plain")

    def _refuse(self, request: Request) -> None:
        refused = refusal(request.headers, self.names)
        if refused is not None:
            raise HTTPException(403, refused)


def _text(text: str, status: int) -> Response:
    return PlainTextResponse(f"{text}\n".encode("utf-8", "replace"), status)


def _come_again(request: Request, error: Exception) -> Response:
    answer = _text(str(error), 503)
    answer.headers["Retry-After"] = str(_AGAIN_SECONDS)
    return answer
