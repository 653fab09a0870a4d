"""A response becomes a page: its encodings undone, its charset looked for, its place found.

`page` is the way in; `archive_events` is what reading an archive yields: a page, a skip or a
damage.
"""
