"""Archives to pages: WARC, ARC and WACZ, compressed or not, sound or damaged. See `reading`."""
