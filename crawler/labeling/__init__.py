"""Known content, from wherever it is stored, into a label pack (Ardi, Heidemann 2014, §3.2: the
informed dataset).

`packing.build_pack` is the way in. `sources` says what a user named: an archive, a tree of files, a
file or another pack; `reading` takes the pages out of it. What is in force, and what it is pushed
to, is the matter of `streams.labels`; nothing here knows a bus.
"""
