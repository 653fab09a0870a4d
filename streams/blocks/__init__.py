"""The fingerprint block: the pages of one batch as columns, in an Arrow stream.

`block` encodes and decodes it; `columns`, `occurrences` and `marks` are its parts as the index,
discovery and the labels take them.
"""
