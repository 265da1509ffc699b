"""What a model needs beside its files: our own modules, the hub, the cache folder."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from veridical.errors import UserError
from veridical.models import cache, checkpoint, load, sources


@pytest.mark.parametrize(("absent", "kind"), [("torch", UserError), ("veridical.models.hf", ModuleNotFoundError)])
def test_only_a_missing_package_of_others_is_advised_to_be_installed(
    absent: str, kind: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Hider:
        def find_spec(self, name: str, path: object = None, target: object = None) -> None:
            if name == absent:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    for module in ("checkpoint", "classifier", "hf", "gguf"):
        monkeypatch.delitem(sys.modules, f"veridical.models.{module}", raising=False)
    if absent == "torch":
        monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setattr(sys, "meta_path", [Hider(), *sys.meta_path])
    monkeypatch.setattr(sources, "resolve", lambda spec: sources.ModelSource(spec, "hub", spec))
    with pytest.raises(kind):
        load("hf/a/b")


@pytest.mark.slow
def test_a_hub_out_of_reach_is_one_line_and_soon(tmp_path: Path) -> None:
    environment = {**os.environ, "HF_HUB_OFFLINE": "0", "HF_ENDPOINT": "http://127.0.0.1:9", "HF_HOME": str(tmp_path)}
    script = (
        "import time; from veridical.models import checkpoint, load\n"
        "from veridical.errors import UserError\n"
        "begun = time.monotonic()\n"
        "try: load('hf/nobody-at-all/no-such-model')\n"
        "except UserError as error: print(error)\n"
        "print(time.monotonic() - begun)"
    )
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    message, seconds = done.stdout.splitlines()
    assert "hub could not be reached" in message
    assert done.stderr == ""
    # Its client's five tries take 23 seconds.
    assert float(seconds) < 15


def test_a_hub_that_does_not_answer_is_waited_for_a_few_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        monkeypatch.setattr(checkpoint.constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(checkpoint.constants, "ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
        monkeypatch.setattr(checkpoint, "HUB_SECONDS", 0.3)
        begun = time.monotonic()
        assert not checkpoint._hub_answers()
        assert time.monotonic() - begun < 5


def test_a_cache_that_cannot_be_written_names_its_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    gguf = tmp_path / "m.gguf"
    gguf.write_bytes(b"GGUF")
    for place in (tmp_path / "file", tmp_path / "file" / "below", tmp_path / ("x" * 300)):
        monkeypatch.setenv("VERIDICAL_CACHE", str(place))
        with pytest.raises(UserError, match=r"the cache folder .* cannot be written .*: set VERIDICAL_CACHE") as caught:
            load(f"gguf/{gguf}")
        assert str(place) in str(caught.value)
    monkeypatch.setenv("VERIDICAL_CACHE", str(tmp_path / "new"))
    cache.check_writable(tmp_path / "new" / "gguf")
    assert list((tmp_path / "new" / "gguf").iterdir()) == []
