"""Blind discovery: which content is on many pages, when nobody said what to look for.

Ardi, Heidemann 2014, §3.2. `online` counts while the crawl goes on, in the bounded memory of
`counters`; `offline` counts a whole corpus exactly.
"""
