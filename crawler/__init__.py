"""Where pages come from: archives, saved trees, Scrapy crawls."""
