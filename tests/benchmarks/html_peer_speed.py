"""Text of HTML pages by other libraries: lxml, selectolax.

Run under the interpreter of a venv made from peers.txt, with a file that names a page a line;
imports nothing of this project. Prints one JSON object: names and seconds of CPU per page.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

_ROUNDS = 5


def by_lxml(pages: list[bytes]) -> None:
    """lxml's parser, and the text of all nodes."""
    from lxml import html

    for page in pages:
        html.document_fromstring(page).text_content()


def by_selectolax(pages: list[bytes]) -> None:
    """selectolax on lexbor, and the text of the body."""
    from selectolax.lexbor import LexborHTMLParser

    for page in pages:
        body = LexborHTMLParser(page.decode("utf-8", "replace")).body
        if body is not None:
            body.text(separator=" ")


def main() -> None:
    """Measure in turns; the best round of each."""
    pages = [Path(name).read_bytes() for name in Path(sys.argv[1]).read_text().splitlines()]
    runs: dict[str, Callable[[list[bytes]], None]] = {"lxml": by_lxml, "selectolax": by_selectolax}
    best: dict[str, float] = {}
    for _ in range(_ROUNDS):
        for name, run in runs.items():
            start = time.process_time()
            run(pages)
            taken = (time.process_time() - start) / len(pages)
            best[name] = min(best.get(name, taken), taken)
    sys.stdout.write(json.dumps(best))


if __name__ == "__main__":
    main()
