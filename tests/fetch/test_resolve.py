"""Names to addresses: what is remembered, for how long, and what failures mean."""

from __future__ import annotations

import asyncio
import socket
import threading

import pytest

from opilio.errors import Transient, Unusable
from opilio.fetch import resolve
from opilio.fetch.resolve import SystemResolver


class Lookups:
    """A name server under the test's control."""

    def __init__(self, *answers: list[str] | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []
        self.now = 0.0

    def __call__(self, host: str, port: int) -> list[str]:
        self.asked.append(host)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def resolver(self, capacity: int = 100) -> SystemResolver:
        return SystemResolver(self, lambda: self.now, capacity)


async def test_an_answer_is_remembered_until_it_is_old() -> None:
    lookups = Lookups(["192.0.2.1"], ["192.0.2.2"])
    resolver = lookups.resolver()
    assert await resolver.resolve("a.test", 80) == ("192.0.2.1",)
    lookups.now = resolve.GOOD_FOR - 1
    assert await resolver.resolve("a.test", 80) == ("192.0.2.1",)
    lookups.now = resolve.GOOD_FOR
    assert await resolver.resolve("a.test", 80) == ("192.0.2.2",)
    assert len(lookups.asked) == 2
    await resolver.close()


async def test_a_name_that_does_not_exist_is_unusable_and_not_asked_for_again() -> None:
    lookups = Lookups(socket.gaierror(socket.EAI_NONAME, "unknown"))
    resolver = lookups.resolver()
    for _ in range(3):
        with pytest.raises(Unusable) as caught:
            await resolver.resolve("no.test", 80)
        assert caught.value.reason == "dns"
        assert not caught.value.contacted
    assert lookups.asked == ["no.test"]
    await resolver.close()


async def test_a_name_server_that_fails_is_asked_again_soon() -> None:
    lookups = Lookups(socket.gaierror(socket.EAI_AGAIN, "try again"), ["192.0.2.1"])
    resolver = lookups.resolver()
    with pytest.raises(Transient) as caught:
        await resolver.resolve("a.test", 80)
    assert caught.value.reason == "dns_temporary"
    lookups.now = caught.value.after
    assert await resolver.resolve("a.test", 80) == ("192.0.2.1",)
    await resolver.close()


async def test_a_name_server_that_never_answers_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(resolve, "PATIENCE", 0.05)
    release = threading.Event()
    resolver = SystemResolver(lambda host, port: [str(release.wait(10))])
    with pytest.raises(Transient) as caught:
        await resolver.resolve("slow.test", 80)
    assert caught.value.reason == "dns_temporary"
    release.set()
    await resolver.close()


async def test_a_label_that_cannot_be_is_no_name() -> None:
    resolver = SystemResolver()
    with pytest.raises(Unusable) as caught:
        await resolver.resolve("x" * 64 + ".test", 80)
    assert caught.value.reason == "dns"
    await resolver.close()


async def test_many_who_ask_for_one_host_ask_the_system_once() -> None:
    lookups = Lookups(["192.0.2.1"])
    resolver = lookups.resolver()
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(resolver.resolve("a.test", 80)) for _ in range(20)]
        tasks[0].cancel()  # the others still get their answer
    assert {task.result() for task in tasks[1:]} == {("192.0.2.1",)}
    assert lookups.asked == ["a.test"]
    await resolver.close()


async def test_a_thousand_addresses_are_cut_to_eight_different_ones() -> None:
    many = ["192.0.2.1"] * 3 + [f"192.0.2.{n % 250}" for n in range(1000)]
    resolver = Lookups(many).resolver()
    found = await resolver.resolve("many.test", 80)
    assert len(found) == len(set(found)) == 8
    await resolver.close()


async def test_the_memory_is_bounded() -> None:
    lookups = Lookups(["192.0.2.1"])
    resolver = lookups.resolver(capacity=3)
    for number in range(10):
        await resolver.resolve(f"{number}.test", 80)
    lookups.asked.clear()
    for number in (9, 8, 7, 0):
        await resolver.resolve(f"{number}.test", 80)
    assert lookups.asked == ["0.test"]
    await resolver.close()


async def test_the_system_knows_this_machine() -> None:
    resolver = SystemResolver()
    assert set(await resolver.resolve("localhost", 80)) <= {"127.0.0.1", "::1"}
    assert list(await resolver.resolve("0x7f.1", 80)) == ["127.0.0.1"]
    await resolver.close()


class MuteServers:
    """Name servers of some domains that never answer; those of others do at once."""

    def __init__(self) -> None:
        self.waiting = 0
        self.over = threading.Event()

    def __call__(self, host: str, port: int) -> list[str]:
        if "mute" in host:
            self.waiting += 1
            self.over.wait(30)
            raise socket.gaierror(socket.EAI_AGAIN, "no answer")
        return ["192.0.2.1"]


async def test_name_servers_that_never_answer_do_not_keep_others_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(resolve, "PATIENCE", 0.3)
    servers = MuteServers()
    resolver = SystemResolver(servers)
    hosts = [f"h{n}.mute{n % 5}.test" for n in range(200)]
    asked = [asyncio.create_task(resolver.resolve(host, 80)) for host in hosts]
    await asyncio.sleep(0.05)
    async with asyncio.timeout(30):
        assert await resolver.resolve("good.test", 80) == ("192.0.2.1",)
    ended = await asyncio.gather(*asked, return_exceptions=True)
    assert {error.reason for error in ended if isinstance(error, Transient)} == {
        "dns_temporary"
    }
    # A look-up that was given up still has its thread.
    assert servers.waiting == 5 * resolve.PER_DOMAIN
    async with asyncio.timeout(30):
        assert await resolver.resolve("other.test", 80) == ("192.0.2.1",)
    servers.over.set()
    await resolver.close()


async def test_threads_are_free_again_when_late_answers_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(resolve, "PATIENCE", 0.2)
    monkeypatch.setattr(resolve, "DOUBTFUL_FOR", 0.0)
    servers = MuteServers()
    resolver = SystemResolver(servers)
    hosts = [f"h{n}.mute.test" for n in range(resolve.PER_DOMAIN)]
    asked = [resolver.resolve(host, 80) for host in hosts]
    await asyncio.gather(*asked, return_exceptions=True)
    with pytest.raises(Transient):  # it waits for its turn without success
        await resolver.resolve("www.mute.test", 80)
    assert servers.waiting == resolve.PER_DOMAIN
    servers.over.set()
    await asyncio.sleep(0.05)
    with pytest.raises(Transient):
        await resolver.resolve("www.mute.test", 80)
    assert servers.waiting == resolve.PER_DOMAIN + 1
    await resolver.close()
