"""Chooses and wires the parts of a crawl."""
