"""The spiders that come with reusewatch."""
