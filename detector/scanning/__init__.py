"""The machinery of the scan: kernels, and the tables that they read.

Some kernels are long, and look for one thing at a time instead of asking a set. A call between
kernels hands on every array, which takes longer than a few comparisons, and a look into a set is a
search that the compiler does not turn into comparisons.

    scan.py            the way in: pages → tokens, offsets, blocks, links
    decoding.py        a page's own charset → UTF-8, and offsets back
    kernel.py          a batch of pages
    page.py            one page, one pass
    tags.py            what the code does when it meets a tag: links, headings, tables
    elements.py        which elements end a word, end a block or hide text: the lists
    nesting.py         the few open elements that change how tags are read
    syntax.py          tags, comments, ends of raw text
    references.py      character references
    text.py            text → tokens
    words.py           bytes → code points → hashes
    addresses.py       where a link or an image leads
    fields.py          the fields of a page
    output.py          what is written, behind its limits
    scratch_memory.py  the memory of a pass; state.py says what stands where in it
    characters.py      characters and short names, as kernels compare them
    page_bytes.py      a byte of the page
    mixing.py          bytes of a word → its 64-bit hash
    tables.py          what kernels look up, as arrays
    unicode_tables.py  what a code point is, what it is folded to (data)
    confusables.py     letters that look like one of ASCII (data)
    dodges.py          words in disguise are counted
    styles.py          what a style attribute says of how an element is shown
    hiding.py          elements that are hidden, and blocks that are parts of lines
    readable.py        what offsets stand for, as text for people: words, links, evidence
    unescaping.py      character references in such text
"""
