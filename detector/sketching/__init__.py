"""Sketches: tokens of a page in, everything that detectors compare out.

Offers `fingerprint` (documents → fingerprints) and the sketches one by one: chunks and raw chunks
(Ardi, Heidemann 2014, §3.1), shingles, min-values and supershingles (Fetterly et al. 2005, §3.2;
Henzinger 2006, §2), Algorithm C's bits (Henzinger 2006, §2), grams (Najork 2012, §2), weighted
terms (Das et al., §3), the identity of a token sequence. `agreement` compares two pages. Nothing
here keeps a page.
"""
