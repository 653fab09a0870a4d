"""Archives onto the bus: which files, in which order, how far it came.

`replay` is the loop; `jobs` and `sources` say what a user named, `trees` and `files` read saved
HTML, `following` waits for files of a running crawl, `cursors` remember how far it came, `origins`
reads a page again.
"""
