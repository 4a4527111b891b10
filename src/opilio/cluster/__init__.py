"""One crawl on many machines: PostgreSQL has its state, workers own shards of it."""
