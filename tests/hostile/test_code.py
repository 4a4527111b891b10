"""The code itself: nothing crawled can be executed, and every parse has limits."""

from __future__ import annotations

import ast

from source_code import ROOT, imported, modules, nodes_of

EXECUTING = {
    "pickle",
    "cPickle",
    "dill",
    "cloudpickle",
    "joblib",
    "marshal",
    "shelve",
    "code",
    "jinja2",
}
# Templates of our own, which escape whatever they are given.
MAY_RENDER = "serve/render.py"
CALLS = {"eval", "exec", "compile", "__import__"}
# What runs shell commands or other programs.
SHELLS = {"system", "popen"}
PARSERS = {
    "turbohtml",
    "lxml",
    "selectolax",
    "html5lib",
    "bs4",
    "html.parser",
    "xml",
    "xml.etree",
    "xml.sax",
    "xml.dom",
    "markdown_it",
    "pypdfium2",
    "pypdf",
    "docx",
}
# Where a parser may be imported, and why that is within limits.
MAY_PARSE = {
    "read/document.py",  # called in reader processes only, see MAY_READ
    "read/head.py",
    "read/main_content/extract.py",
    "read/documents/markdown.py",
    "read/documents/pdf.py",
    "read/documents/pdf_lines.py",
    "text/content.py",  # the first KiB of a page, and tables of encodings
    "seeds/feeds.py",  # lxml without entities, network and huge trees
    "seeds/xml_records.py",
    "topic/dictionary.py",  # files of the user
    "topic/classes.py",
    "topic/ontology/parse.py",
}
# Who may read pages outside a reader process: pages that the user owns.
READS = {
    "opilio.read.document",
    "opilio.read.html",
    "opilio.read.main_content.extract",
    "opilio.read.visible_text",
}
MAY_READ = (
    "read/",
    "subject/page_reader.py",  # the job of a reader process
    "lab/",  # webs that the user has saved
)


def test_nothing_can_be_executed() -> None:
    for module in modules():
        rendering = {"jinja2"} if module == MAY_RENDER else set()
        assert not imported(module) & EXECUTING - rendering, module
        for node in nodes_of(module):
            where = f"{module}:{getattr(node, 'lineno', '')}"
            if isinstance(node, ast.Name):  # also where it is only named: map(eval, …)
                assert node.id not in CALLS, where
            if isinstance(node, ast.Call):
                if isinstance(node.func, ast.Attribute):
                    assert node.func.attr not in SHELLS, where
                assert not any(map(allows_execution, node.keywords)), where


def allows_execution(keyword: ast.keyword) -> bool:
    """Whether this is `shell=True` or `allow_pickle=True`."""
    is_true = isinstance(keyword.value, ast.Constant) and keyword.value.value is True
    return keyword.arg in ("shell", "allow_pickle") and is_true


def test_templates_escape() -> None:
    calls = [
        node
        for node in nodes_of(MAY_RENDER)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "Environment"
    ]
    assert calls
    for call in calls:
        told = {word.arg: ast.unparse(word.value) for word in call.keywords}
        assert told["autoescape"] == "True"
    assert "from_string" not in (ROOT / MAY_RENDER).read_text()


def test_every_parse_has_limits() -> None:
    for module in modules():
        if module not in MAY_PARSE:
            assert not imported(module) & PARSERS, module
        if not module.startswith(MAY_READ):
            assert not imported(module) & READS, module


def test_modules_are_imported_by_names_that_are_written_here() -> None:
    """Names that come from outside choose plugins only, never from a page."""
    by_settings = ("extensions.py", "read/worker.py", "assembly/registry.py")
    may = ("cli/", "__init__.py", "judge/__init__.py", *by_settings)
    for module in modules():
        called = {
            node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            for node in nodes_of(module)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name | ast.Attribute)
        }
        if not module.startswith(may):
            assert "import_module" not in called, module
