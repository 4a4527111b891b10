"""Carries out messages to a running crawl.

The effect of a message and the row that records it are written in one turn of the
crawl, so both are durable or neither is. Everything that may fail is checked before
that turn begins.
"""

from __future__ import annotations

import msgspec

from opilio.assembly.plan import Plan
from opilio.crawl import CrawlLoop
from opilio.errors import BadInput
from opilio.frontier.frontier import LinkFrontier
from opilio.frontier.host_rules import BLOCKED, HostRules
from opilio.limits.contact import require_contact
from opilio.records import SEED_PROMISE, Link, Ranked, State, Subject
from opilio.search.query import parse_query
from opilio.sites.evolve_and_expand import domain_of, engines
from opilio.sites.expander import Expander
from opilio.steering.label_check import LabelChecker
from opilio.steering.labels import labelled, unlabelled_page
from opilio.steering.user_queries import UserQueries
from opilio.store.inbox import Sent
from opilio.store.message_log import (
    DONE,
    PAUSED,
    REFUSED,
    SERVING,
    MessageLog,
    OpenQuery,
    is_paused,
)
from opilio.store.messages import (
    AddSeed,
    AnyMessage,
    AskQuery,
    BlockHost,
    BoostHost,
    LabelPage,
    PauseCrawl,
    ResumeCrawl,
    StopCrawl,
    decode_message,
)
from opilio.text import urls

STOPPED = "told"  # why a crawl ended after `opilio tell DIR stop`
NEXT = "it is visited next"
KNOWN = {
    State.KEPT: "it was visited before",
    State.IRRELEVANT: "it was visited before",
    State.COPY: "it was visited before",
    State.UNUSABLE: "it cannot be used",
    State.PARKED: "it is parked",
}


class Effects:
    """Carries out messages, one after another."""

    def __init__(
        self,
        crawl: CrawlLoop,
        frontier: LinkFrontier,
        plan: Plan,
        log: MessageLog,
        queries: UserQueries,
        began: float,
    ) -> None:
        self.crawl = crawl
        self.frontier = frontier
        self.plan = plan
        self.log = log
        self.queries = queries
        self.began = began  # when this run began, seconds since 1970
        self.checker = LabelChecker(crawl)

    async def act(self, sent: Sent) -> None:
        """Carry out a new message."""
        try:
            message = decode_message(sent.body)
            if isinstance(message, LabelPage):
                await self.label(sent, message)
                return
            self.check(message)
        except (BadInput, msgspec.DecodeError) as error:
            async with self.crawl.turn():
                self.log.keep(sent, REFUSED, str(error))
            return
        async with self.crawl.turn():
            await self.do(sent, message)

    def check(self, message: AnyMessage) -> None:
        """Raise BadInput for what cannot be done here."""
        if isinstance(message, AskQuery) and is_paused(self.crawl.store.db):
            raise BadInput(PAUSED)
        if not isinstance(message, AddSeed):
            return
        if not self.crawl.scope.allows(message.url):
            raise BadInput(f"{message.url} is out of the scope of the topic ([scope])")
        if HostRules(self.log.host_rules()).factor(urls.host(message.url)) == BLOCKED:
            raise BadInput(
                f"{urls.host(message.url)} is blocked; `opilio tell DIR unblock "
                f"{urls.host(message.url)}` first"
            )
        if not self.plan.is_offline:
            require_contact(self.plan.fetch, [message.url])

    async def do(self, sent: Sent, message: AnyMessage) -> None:
        """Let a message take effect, within a turn."""
        state, outcome = DONE, ""
        match message:
            case PauseCrawl() | ResumeCrawl():
                paused = isinstance(message, PauseCrawl)
                self.log.set_paused(paused)
                self.frontier.pause(paused)
                if paused:
                    self.queries.end_all("paused")
                outcome = "paused" if paused else "resumed"
            case StopCrawl():
                outcome = self.stop(sent)
            case AddSeed(url):
                outcome = await self.seed(url)
            case BlockHost(host):
                self.set_rule(host, BLOCKED)
                outcome = f"no more pages of {host} are visited"
            case BoostHost(host, factor):
                self.set_rule(host, factor)
                times = f"count {factor:g} times as much" if factor != 1 else "wait"
                outcome = f"links of {host} {times}{' as usual' * (factor == 1)}"
            case AskQuery():
                state, outcome = SERVING, "pages are fetched for it"
        id = self.log.keep(sent, state, outcome)
        if isinstance(message, AskQuery):
            self.queries.begin(OpenQuery(id, message, 0))

    def stop(self, sent: Sent) -> str:
        """End the run, if it is the one that was meant."""
        if sent.at < self.began:
            return "that run had ended already"
        self.crawl.stop_soon(STOPPED)
        return "stopped"

    async def seed(self, url: str) -> str:
        """Queue a URL before all others, like a seed."""
        print_ = urls.fingerprint(url)
        link = Ranked(Link(url, print_), SEED_PROMISE, {"seed": 1.0})
        [id] = await self.frontier.add([link])
        self.crawl.planted |= {print_}
        if self.frontier.waits(id):
            return NEXT
        state = self.crawl.store.db.execute(
            "SELECT state FROM link WHERE id = ?", (id,)
        ).fetchone()[0]
        return KNOWN.get(State(state), NEXT)

    def set_rule(self, host: str, factor: float) -> None:
        """Block or boost a host, or end both."""
        self.log.set_rule(host, factor)
        self.frontier.set_rules(HostRules(self.log.host_rules()))

    async def label(self, sent: Sent, message: LabelPage) -> None:
        """Record a user's label for a page, and let judge and strategy learn from
        it."""
        id = self.frontier.id_of(urls.fingerprint(message.url))
        stored = await unlabelled_page(self.crawl, id, message.url)
        async with self.crawl.turn():
            outcome = await labelled(
                self.crawl, stored, message.relevant, learn=not message.check
            )
            self.checker.note(id, message.relevant, held_out=message.check)
            self.log.keep(sent, DONE, outcome)
        await self.checker.measure()


def make_effects(
    crawl: CrawlLoop,
    frontier: LinkFrontier,
    plan: Plan,
    subject: Subject,
    began: float,
) -> Effects:
    """The Effects of a crawl whose run began at this time."""
    log = MessageLog(crawl.store.db)

    def expander_for(query: str) -> Expander:
        return Expander(
            crawl,
            domain_of(crawl, subject),
            parse_query(query),
            mode=plan.search.mode,
            ask=engines(plan, crawl),
        )

    queries = UserQueries(crawl, frontier, log, expander_for)
    return Effects(crawl, frontier, plan, log, queries, began)
