"""Coverage-guided fuzzing of what reads strangers' bytes: `make fuzz ONLY=wire SECONDS=600`.

A target is a module: `seeds()` are inputs that the code itself makes, `once(data)` reads one and
asserts what must hold of any, and `changed(data, seed)`, if it is there, makes another input of one
where flipped bytes would seldom come past a checksum. Targets import no atheris: the suite runs
each over its seeds and over a few changes of them.
"""

from __future__ import annotations

from collections.abc import Mapping

# What the engine watches, by target. Never a module with kernels: numba could not compile it then.
WATCHED: Mapping[str, tuple[str, ...]] = {
    "archives": (
        "reusewatch.crawler.archives", "reusewatch.crawler.pages", "reusewatch.crawler.compression",
    ),
    "wire": ("reusewatch.streams.wire", "reusewatch.streams.stages", "reusewatch.streams.labels",
             "reusewatch.streams.urls", "reusewatch.streams.verbs", "reusewatch.streams.steering"),
    "blocks": ("reusewatch.streams.blocks", "reusewatch.streams.stages", "reusewatch.streams.urls"),
    "packs": ("reusewatch.detector.labels.format", "reusewatch.detector.labels.pack",
              "reusewatch.detector.labels.label_sets", "reusewatch.detector.labels.dataset"),
    "questions": ("reusewatch.streams.questions", "reusewatch.streams.running.serving",
                  "reusewatch.streams.running.askers", "reusewatch.streams.stages",
                  "reusewatch.streams.running.prefix_answers",
                  "reusewatch.streams.running.port", "reusewatch.streams.urls", "h11", "starlette",
                  "uvicorn"),
    "scan": ("reusewatch.detector.scanning.readable",),
}  # fmt: skip
