"""The sliding window: pages seen last, and what each is a copy or a near-copy of.

Henzinger 2006 (Algorithms B, C and their combination) and Fetterly et al. 2005, §3.3 (classes).
`index` is the way in, `sightings` and `near_rules` are the values it takes and gives. Pages enter
by `adding`, are asked about by `asking` and `judging`, and leave by `expiry`.
"""
