"""Popular phrases, and the pages that consist of them (Fetterly, Manasse, Najork 2005, §3).

`documents` holds the columns of all pages, `classes` leaves one page of each class of
near-duplicates, `popular` finds the phrases that many of these have, `hosts` the hosts whose pages
have many such phrases, `sliced` those of them that repeat no template, `window` judges the pages
that came last by all of these, and `covering` finds the pages that together have those of one page.
Exact and by definition over the pages that are given; nothing here reads a page or a file.
"""
