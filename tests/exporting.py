"""Exports of a crawl for tests, by format; each returns the number of pages."""

from functools import partial

from opilio.assembly.export import Shape, export_pages
from opilio.store.corpus.selection import Selection
from opilio.store.folder import CrawlFolder


def export_as(
    form: str,
    crawl: CrawlFolder,
    out: object,
    *,
    fields: tuple[str, ...] = (),
    shards: int = 0,
    **selection: object,
) -> int:
    """Write the pages that are selected."""
    shape = Shape(fields=fields, shards=shards)
    chosen = Selection(**selection)
    return export_pages(crawl, str(out), form, selection=chosen, shape=shape).pages


export_jsonl = partial(export_as, "jsonl")
export_csv = partial(export_as, "csv")
export_parquet = partial(export_as, "parquet")
export_warc = partial(export_as, "warc")
