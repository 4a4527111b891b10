"""The papers' experiments, done again on webs whose labels no crawl sees."""
