"""Where pages come from: archives, saved trees, Scrapy crawls. And the command line.

addon         the one line that puts a Scrapy project's pages on the bus; live/ is what it does
archives/     WARC, ARC and WACZ to pages, sound or damaged
compression/  bytes by their offset, and Zstandard frames in them
demo/         a small web of copies, with the truth about it
labeling/     known content, from archives and files, into label packs
live/         the Scrapy side of a page, off the reactor
pages/        a response becomes a page: encodings undone, charset known
replaying/    archives onto the bus: what is read, how far it came, going on after Ctrl-C
spiders/      the bundled crawl
verbs/        the commands that bring pages; cli lists all, exit_codes says how they end
"""
