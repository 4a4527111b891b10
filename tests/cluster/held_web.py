"""A web of bees that can be held: only its first pages are answered until it is let go,
so that a crawl is certain to be in the middle of its work meanwhile."""

from itertools import islice

import msgspec

from opilio.lab.synthetic.small import SmallWeb

LONG = 600.0  # seconds, more than any test takes


class HeldWeb(SmallWeb):
    """Answers so many of its pages, and the rest only after `let_go`."""

    def __init__(self, web: SmallWeb, first: int) -> None:
        self.answers = dict(web.answers)
        self.open = set(islice(self.answers, first))
        self.is_held = True

    def respond(self, url, attempt=0):
        answer = super().respond(url, attempt)
        if self.is_held and url in self.answers and url not in self.open:
            return msgspec.structs.replace(answer, delay=LONG)
        return answer

    def let_go(self):
        """Answer everything; requests that wait are not answered."""
        self.is_held = False
