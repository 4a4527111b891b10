"""Topics: the topic file and the sources of its weighted terms."""

from opilio.topic.file import (
    Classes,
    Evaluation,
    Examples,
    Keyword,
    OntologyFiles,
    QueryLog,
    Sources,
    Topic,
    check_topic,
    load_topic,
    where_to,
)

__all__ = [
    "Classes",
    "Evaluation",
    "Examples",
    "Keyword",
    "OntologyFiles",
    "QueryLog",
    "Sources",
    "Topic",
    "check_topic",
    "load_topic",
    "where_to",
]
