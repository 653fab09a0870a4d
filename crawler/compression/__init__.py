"""Compressed bytes, undone within bounds. Archives and the bodies of responses both stand on this.

`views` gives bytes by their offset, whether they are a file, a stream or in memory; `frames` walks
Zstandard frames block by block (RFC 8878). Nothing here knows what the bytes mean.
"""
