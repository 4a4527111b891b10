"""`opilio crawl`: crawls the web for a topic, or resumes a crawl."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Literal

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
from opilio.cli.display import Reporter, show_trouble
from opilio.cli.error_messages import told
from opilio.crawl import CrawlLoop
from opilio.errors import BadInput
from opilio.judge import JUDGES
from opilio.limits.contact import require_contact
from opilio.records import SEED_PROMISE, Subject
from opilio.store.folder import CrawlFolder
from opilio.topic import where_to
from opilio.topic.file import with_sources


def crawl(
    topic: Annotated[
        Path,
        typer.Argument(
            metavar="TOPIC.toml",
            help="A topic file, or the folder of a crawl to resume.",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            help="The crawl's folder; an existing crawl is resumed. "
            "\\[default: TOPIC-crawl]",
        ),
    ] = None,
    strategy: Annotated[
        str | None,
        typer.Option(
            help="How links are chosen: a name that `opilio strategies` lists, or "
            "your own class as FILE.py:CLASS. \\[default: opilio]"
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE", help="An option of the strategy; may be repeated."
        ),
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(
            help=f"How pages are judged: {', '.join(JUDGES)}, the judge of an "
            "installed package, or your own class as FILE.py:CLASS."
        ),
    ] = None,
    max_pages: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Stop after this many pages in all; 0: no limit. \\[default: 1000]",
        ),
    ] = None,
    max_time: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="SECONDS",
            help="Stop after this time; the same command resumes the crawl. 0: no "
            "limit. \\[default: 0]",
        ),
    ] = None,
    haste: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="0: visit the best links first, even if that takes long; 1: never "
            "wait for a better link. \\[default: 0.1]",
        ),
    ] = None,
    breadth: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="0: take pages wherever the best links are; 1: share the pages among "
            "many hosts. \\[default: 0]",
        ),
    ] = None,
    capacity: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="Links in the queue at a time, the best ones; the others are kept on "
            "disk until there is room. 0: no limit. \\[default: 0]",
        ),
    ] = None,
    stop_when_dry: Annotated[
        bool | None,
        typer.Option(
            "--stop-when-dry/--no-stop-when-dry",
            help="Stop when little is left to find. \\[default: no]",
        ),
    ] = None,
    seed_url: Annotated[
        list[str] | None,
        typer.Option(metavar="URL", help="Also start here; may be repeated."),
    ] = None,
    seed_source: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Take seeds from this seed source of an installed package, or from "
            "your own class as FILE.py:CLASS; may be repeated.",
        ),
    ] = None,
    readers: Annotated[
        int | None,
        typer.Option(min=1, help="Number of reader processes. \\[default: 1]"),
    ] = None,
    render: Annotated[
        Literal["never", "auto", "always"] | None,
        typer.Option(
            help="Run the scripts of pages in a browser: of those that need it "
            "(auto), or of all. \\[default: never]",
        ),
    ] = None,
    delay: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="SECONDS",
            help="Wait this long between two requests to one host. \\[default: 1]",
        ),
    ] = None,
    allow_network: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CIDR",
            help="Allow requests to this private network; may be repeated.",
        ),
    ] = None,
    proxy: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Send all requests through this proxy."),
    ] = None,
    contact: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="A URL or e-mail address where you can be reached; part of the user "
            "agent. Required unless all seeds are on this machine.",
        ),
    ] = None,
    vectors: Annotated[
        str | None,
        typer.Option(
            metavar="auto|none|PATH",
            help="Word vectors: the best that are installed (auto), none, english, "
            "wordllama, or a table made by `opilio vectors build`. \\[default: auto]",
        ),
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Trained weights of the strategy and the judge `opilio`, made by "
            "`opilio lab train`. \\[default: those of the package]",
        ),
    ] = None,
    embedding_model: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="The sentence model of the judge `embedding`: a folder, an .onnx "
            "file with its tokenizer.json beside it, or a jar with both.",
        ),
    ] = None,
    replay: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="WARC",
            help="Crawl these WARC files instead of the network; may be repeated.",
        ),
    ] = None,
    online: Annotated[
        bool,
        typer.Option(
            "--online",
            help="With --replay: fetch what the WARC files lack from the web, and add "
            "it to them.",
        ),
    ] = False,
    settings: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Read more settings from this TOML file."),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="DSN",
            help="Work on the crawl in this PostgreSQL database, together with all "
            "others that run the same command: postgresql://USER@HOST/DATABASE.",
        ),
    ] = None,
    fresh: Annotated[
        bool,
        typer.Option(
            "--fresh", help="Delete the contents of the folder and start over."
        ),
    ] = False,
    serve: Annotated[
        bool,
        typer.Option("--serve", help="Show the crawl in the browser while it runs."),
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Show the result only, no progress.")
    ] = False,
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
