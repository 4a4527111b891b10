"""What is sought: the topic file, and what it says in weighted terms."""

from opilio.topic.file import Evaluation, Keyword, Topic, check, load_topic

__all__ = ["Evaluation", "Keyword", "Topic", "check", "load_topic"]
