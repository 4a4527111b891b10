"""Makes what fetches pages: from the network, from WARC files, or from both."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from opilio.assembly.plan import Plan
from opilio.fetch.egress import Egress
from opilio.fetch.http import HttpFetch, Keep
from opilio.fetch.robots import Robots
from opilio.frontier.sqlite import SqliteFrontier
from opilio.store.robots import SqliteRobots
from opilio.store.store import Store

if TYPE_CHECKING:
    from opilio.fetch.tdm_files import TdmFiles
    from opilio.stage_protocols import Fetch


def make_fetch(plan: Plan, store: Store, frontier: SqliteFrontier) -> Fetch:
    """Fetches from the network, from WARC files in a replay, or from both."""
    network = partial(make_network, plan, store, frontier)
    if not plan.replay:
        return network()
    if plan.online:
        from opilio.assembly.online_replay import open_online

        return open_online(plan.replay, network, plan.documents)
    from opilio.fetch.replay import ReplayFetch, with_additions

    archives = with_additions([Path(name) for name in plan.replay])
    return ReplayFetch(archives, documents=plan.documents)


def make_network(
    plan: Plan,
    store: Store,
    frontier: SqliteFrontier,
    keep: Keep | None = None,
    way_out: Callable[..., Egress] = Egress,
) -> HttpFetch:
    """Fetches from the network; `keep` takes the responses."""
    egress = way_out(plan.fetch, ip_delay=plan.politeness.ip_delay)
    robots = Robots(
        egress.get,
        SqliteRobots(store.db),
        plan.fetch.user_agent,
        pause=plan.politeness.delay,
        turns=frontier,
    )
    return HttpFetch(
        egress,
        robots,
        plan.politeness,
        plan.fetch,
        frontier.pace,
        documents=plan.documents,
        keep=keep,
        tdm=tdm_files(plan, store, frontier, egress, robots),
    )


def tdm_files(
    plan: Plan, store: Store, frontier: SqliteFrontier, egress: Egress, robots: Robots
) -> TdmFiles | None:
    """What fetches tdmrep.json of sites, if reservations matter to the topic."""
    if plan.topic.purpose in (None, "search"):
        return None
    from opilio.fetch.tdm_files import TdmFiles
    from opilio.store.robots import SqliteTdm

    pause, longest = plan.politeness.delay, plan.politeness.max_delay
    memory = SqliteTdm(store.db)
    return TdmFiles(egress.get, robots, memory, frontier, pause=pause, longest=longest)


def network_of(fetch: Fetch) -> HttpFetch | None:
    """What fetches from the network; None in a replay that does not."""
    network = getattr(fetch, "network", fetch)
    return network if isinstance(network, HttpFetch) else None
