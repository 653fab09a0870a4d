"""Quilts: pages stitched from parts of other pages, and pages that hold a part of one other.

Najork 2012. `postings` says which pages of the window hold which grams, and knows nothing of
judging: answers of several processes, each with a share of the pages, can be added up (`holders`).
`judging` finds patch grams and sources in such an answer, `rules` says from when on that is a
quilt or a partial copy, and `patches` where the parts stand.
"""
