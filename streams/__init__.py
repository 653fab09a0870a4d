"""Records on their way: from a source over the bus through the stages to those who read.

records, wire, topics   what travels, as bytes, and where
bus                     what a bus is; local/ and kafka/ are the two there are
opening                 the bus that the settings name; extras says what is not installed
environment             what is set for our libraries, and for no other program
charsets                how a page is read of which no source has said it
blocks/                 the fingerprint block: the pages of a batch as columns
labels/                 the labeled dataset on its way to every fingerprint process
stages/                 fingerprint, index, neighborhoods: messages in, messages out
running/                the loop around a stage: commits, recovery, metrics, who reads what
verbs/                  the commands that show what is on the bus, and keep it running
"""
