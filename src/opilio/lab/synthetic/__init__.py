"""A synthetic web with adjustable properties: pages, links, labels and a server."""
