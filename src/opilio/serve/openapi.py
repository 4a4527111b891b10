"""Describes the API in the form of OpenAPI 3.1, from the types of views and actions."""

from __future__ import annotations

from typing import Any

import msgspec

from opilio import __version__
from opilio.serve.actions import CRAWL_ACTIONS, LIBRARY_ACTIONS
from opilio.serve.view import Action, LibraryView, View
from opilio.serve.views import CRAWL_VIEWS, LIBRARY_VIEWS

API = "/api/v1"
REFERENCE = "#/components/schemas/{name}"
CRAWL = {
    "name": "crawl",
    "in": "path",
    "required": True,
    "description": "The name of a crawl, as the list of crawls has it.",
    "schema": {"type": "string", "minLength": 1},
}


class ApiProblem(msgspec.Struct, frozen=True):
    """What is wrong with a request."""

    error: str


def openapi() -> dict[str, Any]:
    """The OpenAPI document."""
    views: list[View | LibraryView] = [*CRAWL_VIEWS, *LIBRARY_VIEWS]
    actions = (*CRAWL_ACTIONS, *LIBRARY_ACTIONS)
    kinds = [ApiProblem, *(view.result for view in views)]
    kinds += [kind for action in actions for kind in (action.body, action.result)]
    unique = list(dict.fromkeys([*kinds, *(view.parameters for view in views)]))
    _, schemas = msgspec.json.schema_components(unique, ref_template=REFERENCE)
    paths: dict[str, Any] = {}
    for view in views:
        paths.setdefault(path_of(view), {})["get"] = reading(view, schemas)
    for action in actions:
        paths.setdefault(path_of(action), {})["post"] = changing(action)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Opilio",
            "version": __version__,
            "description": "Reads and steers focused crawls. Everything that comes "
            "from crawled pages is untrusted text.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def path_of(what: View | LibraryView | Action) -> str:
    """The path of a view or action in the API."""
    is_of_crawl = what in CRAWL_VIEWS or what in CRAWL_ACTIONS
    if is_of_crawl:
        return f"{API}/crawls/{{crawl}}/{what.path}".rstrip("/")
    return f"{API}/{what.path or 'crawls'}"


def reading(view: View | LibraryView, schemas: dict[str, Any]) -> dict[str, Any]:
    """The operation of a view."""
    known = schemas[view.parameters.__name__]["properties"]
    given = [
        {"name": name, "in": "query", "required": False, "schema": schema}
        for name, schema in known.items()
    ]
    if isinstance(view, View):
        given.insert(0, CRAWL)
    return {
        "operationId": f"get_{view.name}",
        "summary": view.help,
        "parameters": given,
        "responses": responses(view.result),
    }


def changing(action: Action) -> dict[str, Any]:
    """The operation of an action."""
    return {
        "operationId": f"post_{action.path.replace('-', '_')}",
        "summary": action.help,
        "parameters": [CRAWL] if action in CRAWL_ACTIONS else [],
        "requestBody": {"required": True, "content": content_of(action.body)},
        "responses": responses(action.result),
    }


def responses(result: type) -> dict[str, Any]:
    """What an operation may answer."""
    problems = {
        "400": "The request makes no sense for this crawl.",
        "401": "The token is missing.",
        "403": "The request may change nothing.",
        "404": "There is no crawl of this name.",
        "413": "The request is too large.",
        "421": "The server is not known by this name.",
        "422": "A parameter is not valid.",
        "503": "The crawl cannot be read now.",
    }
    return {
        "200": {"description": "The result.", "content": content_of(result)},
        **{
            status: {"description": told, "content": content_of(ApiProblem)}
            for status, told in problems.items()
            if status not in ("401", "403", "413", "421")
        },
        **{
            status: {"description": problems[status]}
            for status in ("401", "403", "413", "421")
        },
    }


def content_of(kind: type) -> dict[str, Any]:
    """A body as JSON of this type."""
    reference = {"$ref": REFERENCE.format(name=kind.__name__)}
    return {"application/json": {"schema": reference}}
