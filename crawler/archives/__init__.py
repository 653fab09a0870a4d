"""Archives to pages: WARC, ARC and WACZ, compressed or not, sound or damaged."""

from crawler.archives.reading import STDIN, read_archive, read_origin

__all__ = ["STDIN", "read_archive", "read_origin"]
