"""Pages like a given one, by minimum weight overlapping (Das et al., §3).

`index` is the way in: pages of the window by their weighted terms. `search` filters and verifies,
and misses nothing that brute force would find; why is proved in `overlap`.
"""
