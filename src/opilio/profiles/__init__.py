"""Profiles of pages and websites, kept while a crawl runs."""
