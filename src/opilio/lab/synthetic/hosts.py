"""Makes the hosts of a synthetic web: names, sizes, topics and behaviour."""

from __future__ import annotations

import random
from itertools import accumulate

import msgspec

from opilio.lab.synthetic import lexicon
from opilio.lab.synthetic.dials import Dials

PERIOD = 20  # pages after which the topics of a host repeat
VARIANTS = 8  # patterns a main topic has
WAYS = ("crawl_delays", "calendars", "sessions", "slow_hosts", "failing_hosts")


class SyntheticHost(msgspec.Struct, frozen=True):
    """A host and its behaviour."""

    number: int
    name: str
    start: int  # its first page number
    size: int  # in pages
    pattern: int
    robots: str = "rules"  # or missing, failing
    crawl_delay: float = 0.0
    calendar: bool = False
    sessions: bool = False
    slow: bool = False
    failing: bool = False


class Pattern:
    """Which of twenty consecutive pages of a host is about which topic."""

    def __init__(self, slots: list[int]) -> None:
        self.slots = slots
        self.places: dict[int, list[int]] = {}
        for place, topic in enumerate(slots):
            self.places.setdefault(topic, []).append(place)
        self.main = max(self.places, key=lambda t: (len(self.places[t]), -t))

    def count(self, topic: int, size: int) -> int:
        """How many of the first `size` pages are about a topic."""
        places = self.places.get(topic, [])
        rest = sum(place < size % PERIOD for place in places)
        return size // PERIOD * len(places) + rest


def make_patterns(dials: Dials, topics: int) -> list[Pattern]:
    """The patterns of hosts, VARIANTS for each main topic."""
    patterns = []
    for main in range(topics):
        for variant in range(VARIANTS):
            rng = random.Random(f"{dials.seed} pattern {main} {variant}")
            others = [topic for topic in range(topics) if topic != main]
            rng.shuffle(others)
            # From the purest to the least pure, in even steps.
            apart = 1 - 2 * variant / (VARIANTS - 1)
            purity = min(1.0, max(0.0, dials.purity + apart * dials.purity_spread))
            minor = PERIOD - max(1, round(purity * PERIOD)) if others else 0
            if dials.host_topics:
                others = others[: dials.host_topics]
            slots = [main] * (PERIOD - minor)
            slots += (others * PERIOD)[:minor]
            rng.shuffle(slots)
            patterns.append(Pattern(slots))
    return patterns


def make_hosts(dials: Dials, topics: tuple[str, ...]) -> list[SyntheticHost]:
    """The hosts, largest first, with names, power-law sizes and behaviour.

    The largest host has no faults, so that most of a web can always be crawled.
    """
    starts = host_starts(dials)
    ways = {trait: chosen_hosts(dials, trait) for trait in WAYS}
    rng = random.Random(f"{dials.seed} names")
    hosts: list[SyntheticHost] = []
    for h in range(dials.hosts):
        main = (h + h // len(topics) * 5) % len(topics)
        hosts.append(
            SyntheticHost(
                number=h,
                name=(english_name if dials.english else host_name)(
                    rng, hosts, topics[main]
                ),
                start=starts[h],
                size=starts[h + 1] - starts[h],
                pattern=main * VARIANTS + h % VARIANTS,
                robots=robots_of(dials, h),
                crawl_delay=dials.crawl_delay if h in ways["crawl_delays"] else 0.0,
                calendar=h in ways["calendars"],
                sessions=h in ways["sessions"],
                slow=h in ways["slow_hosts"],
                failing=h in ways["failing_hosts"],
            )
        )
    return hosts


def host_starts(dials: Dials) -> list[int]:
    """The first page number of each host, and the end; no host is empty."""
    ranks = range(1, dials.hosts + 1)
    weights = list(accumulate(rank**-dials.host_exponent for rank in ranks))
    share = (dials.pages - dials.hosts) / weights[-1]
    return [0, *(h + 1 + round(weight * share) for h, weight in enumerate(weights))]


def robots_of(dials: Dials, host: int) -> str:
    """The kind of robots.txt that a host has; the smallest hosts have broken ones."""
    from_last = dials.hosts - 1 - host
    if host == 0 or from_last >= dials.robots_missing + dials.robots_failing:
        return "rules"
    return "missing" if from_last < dials.robots_missing else "failing"


def chosen_hosts(dials: Dials, trait: str) -> frozenset[int]:
    """The share of hosts that a dial asks for, at random, but never the first."""
    share: float = getattr(dials, trait)
    rng = random.Random(f"{dials.seed} {trait}")
    wanted = min(round(share * dials.hosts), dials.hosts - 1)
    return frozenset(rng.sample(range(1, dials.hosts), wanted))


def host_name(rng: random.Random, hosts: list[SyntheticHost], topic: str) -> str:
    """A name for the next host; one in four shares the domain of the host before."""
    number = len(hosts)
    if number % 4 == 3:
        return f"{topic}.{hosts[-1].name.removeprefix('www.')}"
    syllable = (lexicon.ONSETS.split(), lexicon.VOWELS.split())
    return f"www.{''.join(map(rng.choice, syllable * 2))}{number}.test"


def english_name(rng: random.Random, hosts: list[SyntheticHost], topic: str) -> str:
    """The same in English words that do not tell what the host is about."""
    taken = {host.name for host in hosts}
    while len(hosts) % 4 != 3:
        words = (lexicon.ADJECTIVES.split(), list(lexicon.NOUNS))
        name = f"www.{'-'.join(map(rng.choice, words))}.test"
        if name not in taken:
            return name
    return f"{topic}.{hosts[-1].name.removeprefix('www.')}"
