"""`opilio.tell`: steers a crawl that runs, from any process."""

from __future__ import annotations

from pathlib import Path

from opilio.assembly.tell import send_and_wait
from opilio.store.folder import CrawlFolder, is_database
from opilio.store.message_log import ToldMessage
from opilio.store.messages import USUAL_PAGES, parse_message


def tell(
    folder: Path | str,
    verb: str,
    *words: object,
    pages: int = USUAL_PAGES,
    wait: float = 0.0,
) -> ToldMessage:
    """Send a message to the crawl of a folder or a database, from any process.

    `tell(folder, "seed", "https://…")`; the verbs and words are those of `opilio tell`:
    pause, resume, stop, seed URL, block HOST, unblock HOST, boost HOST FACTOR, label
    URL yes|no (or True, False), query WORDS. It is on disk when this returns, and takes
    effect once: soon, if the crawl runs, or when it is resumed. With `wait`, wait so
    many seconds for the outcome. BadInput for a message that makes no sense.
    """
    named = {True: "yes", False: "no"}
    typed = [named[word] if isinstance(word, bool) else str(word) for word in words]
    message = parse_message(verb, typed, pages)
    if is_database(folder):
        from opilio.cluster.tell import DatabaseWay

        return DatabaseWay(str(folder)).send(message, wait)
    return send_and_wait(CrawlFolder(Path(folder)), message, wait)
