"""A web and a cache that the tests of the lab share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.lab_grounds import ground_of, make_web
from opilio.lab.seeds_and_targets import Ground


@pytest.fixture(scope="session")
def lab_web(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a synthetic web."""
    folder = tmp_path_factory.mktemp("web")
    make_web(folder)
    return folder


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A cache of our own, not the user's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def ground(lab_web: Path) -> Ground:
    """That web, opened."""
    return ground_of(lab_web)
