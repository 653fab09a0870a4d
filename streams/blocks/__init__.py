"""The fingerprint block: the pages of one batch as columns, in an Arrow stream.

`format` declares its columns, encodes and decodes it, and `page_columns` are those of pages as
such; `for_window`, `occurrences` and `label_columns` are its parts as the index, discovery and the
labels take them. `checking` refuses what cannot be.
"""
