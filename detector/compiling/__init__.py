"""How kernels become machine code, and where it is kept.

`kernels` is the front door: `kernel` compiles what Python calls, `part` what only kernels call.
`linking` and `by_address` teach numba two things that halve the time to compile; `cache` keeps
the result on disk under one key, the digest of `sources`. `mixers` are kernels that all sketches
share. `indexing` says that no index counts from the end. Nothing here knows what a page is.
"""
