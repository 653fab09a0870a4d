"""The labeled dataset L: what is known, and how much of a page is in it.

Ardi, Heidemann 2014, §3.1 and §3.2. `pack` is one immutable file, mapped into memory; `dataset` is
a pack with the changes since; `building`, `merging` and `writing` make packs, `contains` judges
a page, `stop_chunks` are what never counts. The one room of the detector that touches files.
"""
