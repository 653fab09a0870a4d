"""How kernels become machine code, and how it is loaded.

`kernels` is the front door: `kernel` is what Python calls, `part` what only kernels call. Both say
their types in numba's words without importing it (`later`). A kernel is bound when it is called
first (`calling`): nearly always to the machine code of an `image`, which a process loads as a whole
and without numba.

Behind that door is what compiles, where there is no image yet: `linking` and `by_address` teach
numba two things that halve the time to compile, `indexing` that no index counts from the end,
`array_checks` that arrays are looked at on the way in; `declaring` compiles for one signature,
`cache` keeps the result on disk under the digest of its `sources`, `loading` loads it from there,
and `imaging` makes an image of it (`elf`). `mixers` and `lines` are kernels and instructions that
several sketches share. Nothing here knows what a page is.
"""
