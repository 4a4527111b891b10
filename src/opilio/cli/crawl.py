"""`opilio crawl`: crawls the web for a topic, or resumes a crawl."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import msgspec
import typer

from opilio.assembly.build import assemble
from opilio.assembly.event_loop import run_loop
from opilio.assembly.find_seeds import find_seeds
from opilio.assembly.plan import (
    Options,
    Plan,
    begin_crawl,
    for_replay,
)
from opilio.assembly.prepare import prepare
from opilio.assembly.registry import find_judge, find_strategy
from opilio.cli.crawl_inputs import (
    check_seeds,
    choose_plan,
    keyword_warnings,
    parse_options,
    update_keywords,
)
from opilio.cli.crawl_options import (
    AllowedNetworks,
    Breadth,
    Capacity,
    ContactAddress,
    Delay,
    EmbeddingModel,
    Fresh,
    Haste,
    JudgeName,
    MaxPages,
    MaxTime,
    Online,
    Output,
    ProxyUrl,
    Quiet,
    ReaderCount,
    Render,
    ReplayFiles,
    SeedSources,
    SeedUrls,
    ServeToo,
    SettingsFile,
    StopWhenDry,
    StoreDsn,
    StrategyName,
    StrategyOptions,
    TopicOrFolder,
    VectorsChoice,
    WeightsFile,
)
from opilio.cli.display import Reporter, show_trouble
from opilio.cli.error_messages import told
from opilio.crawl import CrawlLoop
from opilio.errors import BadInput
from opilio.limits.contact import require_contact
from opilio.records import SEED_PROMISE, Subject
from opilio.store.folder import CrawlFolder
from opilio.topic import where_to
from opilio.topic.file import with_sources


def crawl(
    topic: TopicOrFolder,
    output: Output = None,
    max_pages: MaxPages = None,
    max_time: MaxTime = None,
    seed_url: SeedUrls = None,
    seed_source: SeedSources = None,
    contact: ContactAddress = None,
    settings: SettingsFile = None,
    serve: ServeToo = False,
    fresh: Fresh = False,
    quiet: Quiet = False,
    strategy: StrategyName = None,
    option: StrategyOptions = None,
    judge: JudgeName = None,
    haste: Haste = None,
    breadth: Breadth = None,
    stop_when_dry: StopWhenDry = None,
    vectors: VectorsChoice = None,
    weights: WeightsFile = None,
    embedding_model: EmbeddingModel = None,
    delay: Delay = None,
    allow_network: AllowedNetworks = None,
    proxy: ProxyUrl = None,
    render: Render = None,
    readers: ReaderCount = None,
    capacity: Capacity = None,
    store: StoreDsn = None,
    replay: ReplayFiles = None,
    online: Online = False,
) -> None:
    """Crawl the web for a topic.

    An existing crawl is resumed. Ctrl-C stops cleanly; a second Ctrl-C stops at once.

    Exit codes: 0 done, 1 failed, 2 bad usage or input, 3 disk or memory used up,
    130 interrupted. After 3 and 130, the same command resumes the crawl.

    Examples:

        opilio crawl chemistry.toml --max-pages 5000 --contact me@example.org

        opilio crawl chemistry.toml -o my-crawl --seed-url https://example.org/
    """
    options: Options = {
        "crawl": {
            "strategy": strategy,
            "judge": judge,
            "max_pages": max_pages,
            "max_time": max_time,
            "haste": haste,
            "breadth": breadth,
            "stop_when_dry": stop_when_dry,
            "readers": readers,
            "vectors": vectors,
            "weights": weights,
        },
        "browser": {"render": render},
        "bounds": {"capacity": capacity},
        "embedding": {"model": embedding_model},
        "politeness": {"delay": delay},
        "fetch": {
            "proxy": proxy,
            "contact": contact,
            "allow_networks": tuple(allow_network) if allow_network else None,
        },
    }
    if strategy:
        find_strategy(strategy)
    if judge:
        find_judge(judge)
    if option:
        options = {**options, "options": parse_options(option)}
    if store:
        from opilio.cli.crawl_worker import Given, work_on  # few crawls are shared

        if fresh or replay or online or serve or seed_source:
            raise BadInput(
                "--store cannot be combined with --fresh, --replay, --online, --serve "
                "and --seed-source; name seed sources in the topic file"
            )
        given = Given(topic, output, settings, options, tuple(seed_url or ()), quiet)
        raise typer.Exit(work_on(store, given))
    folder, plan = choose_plan(topic, output, settings, options, fresh)
    if seed_source:
        plan = msgspec.structs.replace(
            plan, topic=with_sources(plan.topic, seed_source)
        )
    if replay or online:
        plan = for_replay(plan, replay or (), online, options)
    for warning in keyword_warnings(plan.topic):
        show_trouble(warning)
    with told(folder.path):
        if plan.topic.update == "auto" and not fresh:
            update_keywords(folder, plan)
        subject = prepare(plan, folder, fresh=fresh)
        seeds = check_seeds(seed_url or [], plan.topic, folder, fresh)
        if not plan.is_offline:
            require_contact(plan.fetch, where_to(plan.topic, seeds))
        begin_crawl(plan, folder, fresh=fresh)
        with shown_in_browser(folder) if serve else nullcontext():
            code = run_loop(run(plan, folder, subject, seeds, quiet))
        raise typer.Exit(code)


@contextmanager
def shown_in_browser(folder: CrawlFolder) -> Iterator[None]:
    """Serve a crawl in another process until the block ends, and print its address."""
    import subprocess  # few crawls need it
    import sys

    command = [sys.executable, "-m", "opilio.serve.beside", str(folder.path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as server:  # noqa: S603
        link = server.stdout.readline().strip() if server.stdout else ""
        told = f"Open {link}" if link else "The pages cannot be served; see above."
        print(told, file=sys.stderr, flush=True)
        try:
            yield
        finally:
            server.terminate()


async def run(
    plan: Plan, folder: CrawlFolder, subject: Subject, seeds: list[str], quiet: bool
) -> int:
    """Crawl until the end, a signal or a message; returns the exit code."""
    from opilio.steering import listening  # much of it is not needed before

    async with assemble(plan, folder, subject) as crawl:
        crawl.store.catalogue.save_event("started", pages=crawl.store.catalogue.pages)
        found = await find_seeds(plan, subject, crawl)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, interrupt, crawl)
        async with Reporter(crawl, plan.topic.name, quiet=quiet) as reporter:
            found |= dict.fromkeys(seeds, SEED_PROMISE)
            listen = await listening(crawl, plan, subject)
            reason = await crawl.run(found, [listen])
        crawl.store.catalogue.save_event("stopped", reason=reason)
        await crawl.commit()
        from opilio.cli.ending import show_end  # not needed earlier

        return show_end(crawl, reason, reporter.before)


def interrupt(crawl: CrawlLoop) -> None:
    """Stop cleanly; the second time, stop at once."""
    if crawl.stopped:
        crawl.stop_now()
    else:
        crawl.stop_soon("interrupted")
