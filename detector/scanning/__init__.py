"""The machinery of the scan: kernels, and the tables that they read.

Some kernels are long, and look for one thing at a time instead of asking a set. A call between
kernels hands on every array, which takes longer than a few comparisons, and a look into a set is a
search that the compiler does not turn into comparisons.

    characters.py      characters and short names, as kernels compare them
    page_bytes.py      a byte of the page
    mixing.py          bytes of a word → its 64-bit hash
    tables.py          everything below as arrays
    unicode_tables.py  what a code point is, case folding (data)
    elements.py        what an element does to the text
    references.py      character references
    syntax.py          tags, comments, ends of raw text
    addresses.py       where a link or an image leads
    words.py           bytes → code points → hashes
    text.py            text → tokens
    output.py          what is written, behind its limits
    work.py, state.py  the memory of a pass, and what stands where in it
    fields.py          the fields of a page
    tags.py            what a tag means
    page.py            one page, one pass
    kernel.py          a batch of pages

`detector.scanning.scan` is the way in.
"""
