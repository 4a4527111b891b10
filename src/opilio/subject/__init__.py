"""The topic of a crawl, compiled for readers, judges and strategies."""
