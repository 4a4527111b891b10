"""Runs the scripts of pages in a browser that has no way to the network of its own."""
