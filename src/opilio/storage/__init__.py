"""Files and tables that several stages use: crawl.db, caches, WARC."""
