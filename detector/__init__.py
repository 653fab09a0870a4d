"""The algorithms of five papers on reused web content, as pure functions of the facts.

Nothing here reads a clock, an environment or the network, nor knows of Kafka, Scrapy or
Prometheus. Files are touched in one room only: `labels` maps packs into memory, and writes them.

    scanning       bytes of a page → tokens, where they stand, blocks, links
    sketching      tokens → chunks, shingles, simhash, grams, weighted terms: the fingerprint
    window         exact and near-duplicates among the pages seen last, and their clusters
    similar        pages like a given one, by the overlap of their weighted terms
    labels         known content: packs of hashes, and how much of a page is in them
    neighborhoods  URL prefixes under which copied content is frequent
    evidence       what exactly one page has of another: runs of words, on both sides
    discovery      content that comes to be common, counted in bounded memory
    compiling      how kernels become machine code

Upper rooms import lower ones: discovery; then similar, labels, neighborhoods, evidence; then
window and sketching; then scanning; then compiling; then the values at the root.
"""
