"""`python -m crawler` is the command `reusewatch`."""

from __future__ import annotations

from crawler.cli import main

if __name__ == "__main__":
    main()
