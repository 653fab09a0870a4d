"""The add-on in crawls that share a queue: `make redis`, with scrapy-redis and a real Redis."""
