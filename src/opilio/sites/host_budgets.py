"""Applies the page budgets of hosts and domains outside the crawl's frontier.

`bounds.per_host` and `bounds.per_domain` hold for everything that fetches pages.
"""

from __future__ import annotations

import sqlite3
from collections import Counter

from opilio.settings import BoundsSettings
from opilio.text.urls import domain as domain_of

SPENT = """
    SELECT id FROM host WHERE (:per_host AND taken >= :per_host) OR (:per_domain AND
        domain IN (SELECT domain FROM host GROUP BY domain
                   HAVING sum(taken) >= :per_domain))
"""  # ids of the hosts that may have no more pages


def limits(bounds: BoundsSettings) -> dict[str, int]:
    """The parameters of SPENT."""
    return {"per_host": bounds.per_host, "per_domain": bounds.per_domain}


class Allowance:
    """Allows visits to hosts with budget left.

    A visit counts as a page until it is known to have brought none.
    """

    def __init__(self, db: sqlite3.Connection, bounds: BoundsSettings) -> None:
        self.bounds = bounds
        self.hosts: Counter[str] = Counter()
        self.domains: Counter[str] = Counter()
        if bounds.per_host or bounds.per_domain:
            for host, domain, taken in db.execute(
                "SELECT name, domain, taken FROM host WHERE taken"
            ):
                self.hosts[host] = taken
                self.domains[domain] += taken

    def take(self, host: str) -> bool:
        """Reserve a page of this host; False if its budget is used up."""
        domain = domain_of(host)
        per_host, per_domain = self.bounds.per_host, self.bounds.per_domain
        if per_host and self.hosts[host] >= per_host:
            return False
        if per_domain and self.domains[domain] >= per_domain:
            return False
        self.hosts[host] += 1
        self.domains[domain] += 1
        return True

    def give_back(self, host: str) -> None:
        """Release a page that was reserved but not fetched."""
        self.hosts[host] -= 1
        self.domains[domain_of(host)] -= 1
