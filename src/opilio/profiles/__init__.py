"""Profiles of pages and websites, updated while a crawl runs."""
