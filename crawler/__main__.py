"""The command `reusewatch`, also `python -m reusewatch.crawler`.

Ctrl-C is no error, even while it loads.
"""

import gc
import sys

# Loading makes hundreds of thousands of objects, none of them garbage: to look through them at
# each seven hundred new ones is a tenth of a start.
_NEW_OBJECTS = 50_000


def main() -> None:
    """Load the verbs, and run one."""
    gc.set_threshold(_NEW_OBJECTS, 10, 10)
    try:
        from reusewatch.crawler.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
