"""Acts on the messages that a running crawl is sent."""
