"""Archives to pages: WARC, ARC and WACZ, compressed or not, sound or damaged."""

from crawler.archives.reading import STDIN, read_archive, read_origin
from crawler.found import Found, Limits

__all__ = ["STDIN", "Found", "Limits", "read_archive", "read_origin"]
