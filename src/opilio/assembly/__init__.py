"""Chooses the parts of a crawl and connects them."""
