"""`make bench`: every measurement, one table after another."""

from __future__ import annotations

from bench import crawl, fetch, frontier, ranking, read, retrieval, search

PARTS = (crawl, fetch, read, ranking, frontier, search, retrieval)


def main() -> None:
    """Run them all; each says what it measures and against what."""
    for part in PARTS:
        part.main()


if __name__ == "__main__":
    main()
