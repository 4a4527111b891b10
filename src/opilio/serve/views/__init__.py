"""The pages: each file has one, as typed records. See ../view.py."""

from opilio.serve.view import LibraryView, View
from opilio.serve.views.home import HOME
from opilio.serve.views.links import LINKS
from opilio.serve.views.overview import OVERVIEW
from opilio.serve.views.page import PAGE
from opilio.serve.views.search import SEARCH

CRAWL_VIEWS: tuple[View, ...] = (OVERVIEW, SEARCH, LINKS, PAGE)
LIBRARY_VIEWS: tuple[LibraryView, ...] = (HOME,)
