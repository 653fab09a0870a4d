"""Two pages side by side as one file for a browser: no script, nothing fetched, nothing to follow.

Everything from pages is text, escaped; what a browser would not show as what it is (controls, marks
that turn the direction of text) is shown as an escape. The file's own policy forbids all but the
one style sheet, which is named by its hash: should anything slip through, the browser refuses it.
It is well-formed XML beside being HTML, so that a strict parser can tell that nothing did.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from html import escape

from reusewatch.streams.console import harmless
from reusewatch.streams.records import Alert
from reusewatch.streams.verbs.showing import in_common, name_of_donors, told_direction
from reusewatch.streams.verbs.sides import Lengths, Part

LENGTHS = Lengths(copied=1000, own=60)
# What stands above the two pages, by where the original is.
_HEADS: Mapping[str | None, tuple[str, str]] = {
    "there": ("This page, the copy", "The one it copies"),
    "here": ("This page, the original", "Its copy"),
    "unknown": ("This page", "Also at"),
    None: ("This page", "The one it copies"),
}
_HUES = (140, 200, 290, 45, 340, 95, 250, 15)
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 1.5rem; color: #1a1a1a; background: #fff }
h1 { font-size: 1.2rem; margin: 0 0 .5rem }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: 0 0 1rem }
dt { color: #666 } dd { margin: 0; overflow-wrap: anywhere }
.sides { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; align-items: start }
.sides + .sides { margin-top: 1rem }
section { border: 1px solid #ccc; border-radius: 6px; padding: .75rem; min-width: 0 }
h2 { font-size: .95rem; margin: 0 0 .5rem; overflow-wrap: anywhere }
p { margin: .4rem 0; white-space: pre-wrap; overflow-wrap: anywhere }
.own { color: #767676 } mark { color: inherit; padding: .1em 0; border-radius: 3px }
b { font-size: .8em; border-radius: 3px; padding: 0 .35em; margin-right: .3em; color: #fff }
u { text-decoration-color: #c00; text-decoration-thickness: 2px } i { color: #767676 }
mark, b { print-color-adjust: exact; -webkit-print-color-adjust: exact }
@media print { body { margin: 0; font-size: 9pt } p { break-inside: avoid } }
""" + "".join(
    f".n{number} mark {{ background: hsl({hue} 70% 88%) }} "
    f".n{number} b {{ background: hsl({hue} 60% 32%) }}\n"
    for number, hue in enumerate(_HUES)
)


def html_of(
    alert: Alert, here: Sequence[Part], there: Sequence[Part], *, other: str | None = None,
    more: Iterable[tuple[str, Sequence[Part], Sequence[Part]]] = (),
) -> str:  # fmt: skip
    """The whole file; beside the alert's page stands its first donor, if no `other`. Below that,
    the page once more beside each of `more`."""
    first = alert.donors[0].url if alert.donors else ""
    digest = b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    facts = "".join(
        f"<dt>{escape(name)}</dt><dd>{_safe(value)}</dd>" for name, value in _facts(alert)
    )
    ours, theirs = _HEADS[alert.direction.original if alert.direction else None]
    drawn = "\n".join(
        f'<div class="sides">{_side(ours, alert.url or "", mine)}{_side(theirs, url, yours)}</div>'
        for url, mine, yours in ((other or first, here, there), *more)
    )
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/>'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}"/>'
        '<meta name="viewport" content="width=device-width"/>'
        f"<title>{_safe(alert.kind)} {_safe(alert.id[:8])}</title><style>{_STYLE}</style></head>\n"
        f"<body><h1>{_safe(alert.kind)} ({_safe(alert.severity)})</h1><dl>{facts}</dl>\n"
        f"{drawn}</body></html>\n"
    )


def _facts(alert: Alert) -> Iterable[tuple[str, str]]:
    yield "page", alert.url or alert.prefix or ""
    yield "fetched", f"{alert.fetched_at:%Y-%m-%d %H:%M:%S} UTC"
    for donor in alert.donors:
        when = f"first fetched {donor.fetched_at:%Y-%m-%d %H:%M:%S} UTC"
        yield name_of_donors(alert.direction), f"{donor.url}, {when}"
    if alert.direction is not None:
        yield "original", told_direction(alert.direction, len(alert.donors))
    if alert.within is not None:
        yield "in common", in_common(alert, alert.within)
    if alert.differs is not None:
        yield "only here", ", ".join(alert.differs.only_here) or "-"
        yield "only there", ", ".join(alert.differs.only_there) or "-"
    if alert.labels:
        yield "labels", ", ".join(alert.labels)
    yield "alert", f"{alert.id}, by {alert.detector}"


def _side(name: str, url: str, parts: Sequence[Part]) -> str:
    """A page: a paragraph for each passage, and for what stands between."""
    out: list[str] = []
    last: int | None = None
    for part in parts:
        if not out or part.number != last or part.number is None:
            out.append(("</p>" if out else "") + _opened(part))
        else:
            out.append(" ")
        out.append(_drawn(part))
        last = part.number
    out.append("</p>" if out else "")
    return f"<section><h2>{escape(name)}: {_safe(url)}</h2>{''.join(out)}</section>"


def _opened(part: Part) -> str:
    if part.number is None:
        return '<p class="own">'
    return f'<p class="n{(part.number - 1) % len(_HUES)}"><b>{part.number}</b>'


def _drawn(part: Part) -> str:
    text = _safe(part.text)
    if part.left_out:
        text += f"<i> … {part.left_out} words … </i>{_safe(part.end)}"
    if part.number is None:
        return text
    return f"<u>{text}</u>" if part.own else f"<mark>{text}</mark>"


def _safe(text: str) -> str:
    """A stranger's text: escaped, and its controls as escapes; lines stay lines, but empty ones."""
    return escape("\n".join(harmless(line) for line in text.split("\n") if line))
