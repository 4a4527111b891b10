"""Agents list and call every tool, by the client of the `mcp` package."""

import asyncio
import json
import sys
from pathlib import Path

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from bee_web import bee_web
from crawling import serving
from opilio.serve.agent_tools import NOTICE, AgentTools, FetchBudget
from opilio.serve.served_crawl import ServedCrawl
from opilio.store.folder import CrawlFolder

READING = {"search", "read", "explain", "status", "sites"}


def command(*words: object) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable, args=["-m", "opilio.cli", "mcp", *map(str, words)]
    )


async def call(client: Client, name: str, **given: object) -> dict:
    """The result of a tool."""
    result = await client.call_tool(name, given)
    return json.loads(result.content[0].text)


async def test_every_reading_tool_over_standard_input(bee_crawl: Path):
    async with Client(command(bee_crawl)) as client:
        listed = await client.list_tools()
        assert {tool.name for tool in listed.tools} == READING
        found = await call(client, "search", query="honey")
        assert found["notice"] == NOTICE
        url = found["content"]["hits"][0]["url"]
        page = await call(client, "read", url=url)
        assert page["notice"] == NOTICE
        assert "honey" in page["content"]["markdown"]
        why = await call(client, "explain", url=url)
        assert why["content"]["path"][0]["url"] == "http://seed.test/"
        status = await call(client, "status")
        assert status["content"]["kept"] >= 100
        sites = await call(client, "sites")
        assert sites["content"]["sites"][0]["host"] == "seed.test"
        unknown = await call(client, "read", url="http://nowhere.test/")
        assert "not known" in unknown["error"]


async def test_agents_need_the_token_over_http(bee_crawl: Path, tmp_path: Path):
    token = tmp_path / "token"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "opilio.cli", "mcp", bee_crawl, "--http"),
        *("--port", "0", "--token-file", token),
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        line = (await asyncio.wait_for(process.stderr.readline(), 30)).decode()
        address = line.split()[-1]
        async with httpx2.AsyncClient() as stranger:
            assert (await stranger.post(address, json={})).status_code == 401
        secret = {"authorization": f"Bearer {token.read_text().strip()}"}
        async with (
            httpx2.AsyncClient(headers=secret) as http,
            Client(streamable_http_client(address, http_client=http)) as client,
        ):
            assert {t.name for t in (await client.list_tools()).tools} == READING
            assert (await call(client, "status"))["notice"] == NOTICE
    finally:
        process.terminate()
        await process.communicate()


async def test_pages_are_fetched_within_the_budget(tmp_path: Path):
    import opilio

    folder = tmp_path / "bees"
    topic = opilio.Topic(
        name="bees", keywords=["honey bee"], seeds=["http://seed.test/"]
    )
    with serving(bee_web(pages=60)) as server:
        settings = {"proxy": server.proxy_url, "delay": 0.0, "min_free": 0}
        crawl = opilio.Crawl(
            folder, topic, max_pages=5, contact="me@example.org", **settings
        )
        await crawl.arun()
        served = ServedCrawl("bees", CrawlFolder(folder), tmp_path / "log")
        tools = AgentTools(served, FetchBudget(8))
        async with Client(tools.server()) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert names == READING | {"expand", "crawl"}
            on = await call(client, "crawl", pages=4)
            assert on["content"]["pages"] == 9
            more = await call(client, "expand", query="honey number30", pages=3)
            assert more["content"]["progress"]["state"] == "done"
            assert more["content"]["progress"]["pages"] > 0
            over = await call(client, "crawl", pages=2)
            assert "--budget" in over["error"]
        served.close()


@pytest.mark.parametrize("options", [("--http",)])
async def test_http_without_a_token_is_refused(bee_crawl: Path, options: tuple):
    from crawling import opilio

    ended = await opilio("mcp", bee_crawl, *options)
    assert (ended.code, "--token-file" in ended.err) == (2, True)


async def test_a_crawl_is_shown_beside_itself(crawled):
    life = await crawled(bee_web(pages=40))
    from crawling import start_opilio

    process = await start_opilio(
        *life.command("--serve", "--delay", "0.3", "--max-pages", "30")
    )
    line = (await asyncio.wait_for(process.stderr.readline(), 30)).decode()
    assert line.startswith("Open http://127.0.0.1:")
    link = line.split()[1]
    async with httpx2.AsyncClient(follow_redirects=True) as browser:
        shown = await browser.get(link)
        assert shown.status_code in (200, 400)  # before the first commit, it says so
        await life.until_committed(3)
        shown = await browser.get(link.partition("/login")[0])
        assert (shown.status_code, "Harvest rate" in shown.text) == (200, True)
        process.kill()
        await process.communicate()
        for _ in range(100):  # it ends with the crawl, even if that is killed
            try:
                await browser.get(link)
            except httpx2.HTTPError:
                break
            await asyncio.sleep(0.1)
        else:
            pytest.fail("the server goes on without the crawl")
