"""`python -m crawler` is the command `reusewatch`."""

from crawler.cli import main

if __name__ == "__main__":
    main()
