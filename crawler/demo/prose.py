"""Text for the demo's pages: grammatical, different each time, the same for the same seed."""

from __future__ import annotations

import random
from dataclasses import dataclass

_SUBJECTS = (
    "the harbour office", "a retired surveyor", "the night ferry", "our neighbour", "the museum",
    "the younger apprentice", "a visiting botanist", "the choir", "the old signal box",
    "the regional archive", "a fishing crew", "the bakery on Mill Lane", "the school council",
    "a travelling printer", "the lighthouse keeper", "the allotment society", "a glassblower",
    "the county engineer", "the orchard", "a clockmaker", "the evening class", "the ferryman",
)  # fmt: skip
_VERBS = (
    "catalogued", "repaired", "measured", "borrowed", "described", "painted", "restored", "sold",
    "mapped", "inherited", "photographed", "abandoned", "rebuilt", "labelled", "translated",
    "collected", "weighed", "hid", "auctioned", "rediscovered", "copied out", "dismantled",
)  # fmt: skip
_OBJECTS = (
    "a crate of brass instruments", "the tide tables of 1894", "three hundred seed packets",
    "the northern footpath", "a ledger of ship names", "the copper roof", "an unfinished quilt",
    "the last working loom", "a box of glass negatives", "the parish accounts", "two stone lions",
    "a set of botanical drawings", "the frozen canal", "an almanac in four volumes",
    "the bell from the chapel", "a hand-drawn map of the marsh", "the winter fodder",
    "a collection of river stones", "the signal lamps", "the recipe for rye bread",
)  # fmt: skip
_ENDINGS = (
    "before the spring floods", "without telling the committee", "in the presence of two witnesses",
    "for less than the cost of the postage", "because nobody else would", "on the second attempt",
    "while the road was closed", "after a long correspondence", "by the light of a single lamp",
    "as the contract required", "to the surprise of the whole town", "during the dry summer",
    "with the help of a schoolteacher", "and wrote a careful report", "in exchange for firewood",
    "despite the weather", "under a borrowed name", "at the request of the bishop",
)  # fmt: skip
_LINKS = (
    "Later,", "That year", "In the end", "Some say that", "By all accounts", "Meanwhile",
    "Two weeks on,", "According to the minutes,", "As it happened,", "Strictly speaking,",
)  # fmt: skip
_BANK_SUBJECTS = (
    "a savings account", "the standing order", "your card abroad", "the joint mortgage",
    "a lost cheque", "the overdraft", "a payment in dollars", "the secure message",
    "your first statement", "the safe", "a direct debit", "the branch counter",
    "an early repayment", "the spending limit", "a new signature",
)  # fmt: skip
_BANK_VERBS = (
    "covers", "needs", "replaces", "follows", "cancels", "protects", "postpones", "confirms",
    "opens", "limits", "settles", "reports", "reserves", "unlocks",
)  # fmt: skip
_BANK_OBJECTS = (
    "every transfer above nine hundred", "the code that we send",
    "interest until the next quarter", "whatever was booked twice", "both names on the contract",
    "an amount in foreign currency", "the reader with the green light",
    "charges that nobody had agreed to", "the branch where it began", "fees for paper copies",
    "the balance on a working day", "all cards under one number",
)  # fmt: skip
_BANK_ENDINGS = (
    "unless you told us by telephone", "within five days of the notice", "if the app is locked",
    "provided that both holders have signed", "once the deposit has cleared", "free of any charge",
    "even where the shop is abroad", "never on a public holiday",
    "from your eighteenth birthday on", "when the password was typed wrongly",
    "whichever of the two comes first", "against a receipt",
)  # fmt: skip
_SYLLABLES = (
    "mar", "low", "tre", "sick", "ban", "dor", "fen", "wick", "hal", "ston", "pel", "gar", "rin",
    "tham", "cob", "ley", "ost", "ver", "nan", "quil", "sut", "ber", "dun", "mel", "yar", "kett",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Voice:
    """Whose phrases a text is made of: who writes of the same things has runs of words in common
    with others, copied or not."""

    subjects: tuple[str, ...]
    verbs: tuple[str, ...]
    objects: tuple[str, ...]
    endings: tuple[str, ...]


TOWN = Voice(_SUBJECTS, _VERBS, _OBJECTS, _ENDINGS)
BANK = Voice(_BANK_SUBJECTS, _BANK_VERBS, _BANK_OBJECTS, _BANK_ENDINGS)


def sentence(rng: random.Random, voice: Voice = TOWN) -> str:
    """One sentence."""
    parts = [rng.choice(of) for of in (voice.subjects, voice.verbs, voice.objects, voice.endings)]
    # Or texts of few phrases would be quilts of each other.
    own = random.Random(" ".join(parts))  # noqa: S311 - the same name for the same words
    parts = [f"{parts[0]} of {_name(own)}", parts[1], f"{parts[2]} at {_name(own)}", parts[3]]
    if rng.random() < 0.4:
        parts.insert(0, rng.choice(_LINKS))
    text = " ".join(parts)
    return text[0].upper() + text[1:] + "."


def paragraph(rng: random.Random) -> str:
    """Three to six sentences."""
    return " ".join(sentence(rng) for _ in range(rng.randint(3, 6)))


def title(rng: random.Random, voice: Voice = TOWN) -> str:
    """A headline."""
    text = f"{rng.choice(voice.objects)}, {rng.choice(voice.endings)}"
    return text[0].upper() + text[1:]


def names(rng: random.Random) -> tuple[str, ...]:
    """People and places that only one text is about."""
    return tuple(_name(rng) for _ in range(8))


def _name(rng: random.Random) -> str:
    return "".join(rng.sample(_SYLLABLES, 3)).capitalize()


def paragraph_about(rng: random.Random, who: tuple[str, ...], voice: Voice = TOWN) -> str:
    """A paragraph with these names in it: so many words of its own tell a text from others."""
    return " ".join(
        f"{sentence(rng, voice)[:-1]}, say {' and '.join(rng.sample(who, 3))}."
        for _ in range(rng.randint(3, 6))
    )
