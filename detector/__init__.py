"""The algorithms of five papers on reused web content, as pure functions of the facts.

Nothing here does I/O, reads a clock or knows of Kafka, Scrapy or Prometheus.
"""
