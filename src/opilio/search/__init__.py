"""Indexed pages in; answers to queries out."""
