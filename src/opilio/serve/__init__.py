"""The web pages, HTTP API, metrics and agent tools that show a crawl (`opilio serve`).

guard.py lets requests in or not, app.py has the routes, views/ one file per page. A
view is a function from typed parameters to a typed result; the same result is rendered
as a page and sent as JSON, and the OpenAPI document is made from its types.
"""
