"""The manifests in the docs are valid by the schemas of those who read them."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from opilio.settings import Settings
from opilio.topic import load_topic

HOWTO = Path(__file__).parents[2] / "docs" / "howto"


def test_the_kubernetes_manifest_is_valid():
    checker = pytest.importorskip("kubernetes_validate")
    parts = list(yaml.safe_load_all((HOWTO / "kubernetes.yaml").read_text()))
    assert [part["kind"] for part in parts] == ["ConfigMap", "Secret", "Job"]
    for part in parts:
        checker.validate(part, "1.31", strict=True)


def test_its_topic_and_settings_are_valid(tmp_path):
    import msgspec

    data = next(yaml.safe_load_all((HOWTO / "kubernetes.yaml").read_text()))["data"]
    topic = tmp_path / "bees.toml"
    topic.write_text(data["bees.toml"])
    assert load_topic(topic).name == "bees"
    settings = msgspec.toml.decode(data["settings.toml"].encode(), type=Settings)
    assert settings.store.warc.startswith("s3://")


def test_the_compose_file_is_valid():
    pytest.importorskip("check_jsonschema")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema"]
    command += ["vendor.compose-spec", str(HOWTO / "compose.yaml")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
