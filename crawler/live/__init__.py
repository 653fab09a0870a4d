"""The Scrapy side of a page: from a response in the downloader to the bus, off the reactor."""
