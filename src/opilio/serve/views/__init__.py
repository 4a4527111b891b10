"""The pages: each file has one, as typed records. See ../view.py."""

from opilio.serve.view import LibraryView, View
from opilio.serve.views.home import HOME
from opilio.serve.views.lab_reports import LAB
from opilio.serve.views.labels import LABELS
from opilio.serve.views.links import LINKS
from opilio.serve.views.overview import OVERVIEW
from opilio.serve.views.page import PAGE
from opilio.serve.views.preview import PREVIEW
from opilio.serve.views.search import SEARCH
from opilio.serve.views.site_map import MAP
from opilio.serve.views.sites import SITES
from opilio.serve.views.start import START
from opilio.serve.views.topic import TOPIC

CRAWL_VIEWS: tuple[View, ...] = (
    OVERVIEW,
    SEARCH,
    LABELS,
    TOPIC,
    LINKS,
    SITES,
    MAP,
    PAGE,
)
LIBRARY_VIEWS: tuple[LibraryView, ...] = (HOME, START, PREVIEW, LAB)
