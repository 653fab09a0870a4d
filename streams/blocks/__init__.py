"""The fingerprint block: the pages of one batch as columns, in an Arrow stream.

`format` declares its columns, encodes and decodes it, and `page_row` is a page's share of them;
`for_window`, `occurrences` and `label_columns` are its parts as the index, discovery and the labels
take them. `checking` refuses what cannot be.
"""
