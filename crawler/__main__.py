"""The command `reusewatch`, also `python -m reusewatch.crawler`.

Ctrl-C is no error, even while it loads.
"""

import sys


def main() -> None:
    """Load the verbs, and run one."""
    try:
        from reusewatch.crawler.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
