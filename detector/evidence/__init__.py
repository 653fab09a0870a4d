"""What exactly was copied: two pages' words side by side, and the runs that both have.

    shared_grams.py  which grams a page and its donors have in common, where, how often: the seeds
    alignment.py     from seeds to runs that cannot be extended, none over another in the subject
    passages.py      runs with a word or two between them as one; the most telling first
    own_words.py     the words that only one of two pages has
    pages.py         a page as evidence needs it: words, their places in the body, text for people
    pairs.py         two pages: everything that is told of what one has of the other
    many_pairs.py    the same of the pairs of a step, together

The same alignment serves one donor and many: whoever has postings gives the seeds, and pays for no
second look at the donors' grams.
"""
