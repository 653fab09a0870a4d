"""Steering: what was found changes what is fetched (Ardi, Heidemann 2014, §3.6).

`places` are the open findings of places, as the topic of alerts tells them; `formats` says them in
the words of other crawlers' filters, `narrowing` which of them say something of their own. `rules`
decides what is done with a request, and leaves a share of them so that a place can come back;
`traps` knows URLs that are traps by themselves. `following` keeps all of this at what the topic
says, in a thread. Needs no stage, so that a crawl host can steer, and knows nothing of Scrapy.
"""
