"""A web that is made up: dials in; pages, links, labels and a server of them out."""
