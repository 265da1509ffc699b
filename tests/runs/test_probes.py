"""What a model's probes found goes into the run's manifest, once; models without probes are none the worse."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, field

import pytest

import veridical
from tests.runs.toy import ToyModel, toy_suite
from veridical.engine.probes import Probes
from veridical.runs.manifest import read_manifest

FOUND = Probes("packed", "", 1.5e-5, 0.0, 2e-5, True, 3, 4, 1, 47, 126)


@dataclass
class ProbedToy(ToyModel):
    probed: list[int] = field(default_factory=list)

    def probe(self) -> Probes:
        self.probed.append(len(self.asked))
        return FOUND


def test_the_manifest_stores_what_the_probes_found_before_anything_was_asked(tmp_path):
    model = ProbedToy()
    study = veridical.run(toy_suite(1), model=model, out=tmp_path)
    assert study.runs[0].manifest.model.probes == asdict(FOUND)
    assert model.probed == [0]


def test_a_run_is_probed_once(tmp_path):
    model = ProbedToy()
    for limit in (1, 2):
        study = veridical.run(toy_suite(2), model=model, limit=limit, out=tmp_path)
    assert len(model.probed) == 1
    assert study.runs[0].manifest.model.probes == asdict(FOUND)


def test_a_model_without_probes_stores_none(tmp_path):
    study = veridical.run(toy_suite(1), model=ToyModel(), out=tmp_path)
    assert study.runs[0].manifest.model.probes is None


def test_a_manifest_from_before_the_probes_is_read(tmp_path):
    study = veridical.run(toy_suite(1), model=ToyModel(), out=tmp_path)
    folder = study.runs[0].path
    document = json.loads((folder / "manifest.json").read_text())
    del document["model"]["probes"]
    # As 0.1.0 wrote it: without parts and checksums.
    document = {k: v for k, v in document.items() if k not in ("parts", "seal", "sealed_later", "lost")}
    document["schema"] = "veridical.run/1"
    (folder / "manifest.json").write_text(json.dumps(document))
    assert read_manifest(folder).model.probes is None


def test_the_report_shows_the_probes_among_the_settings(tmp_path):
    study = veridical.run(toy_suite(1), model=ProbedToy(), out=tmp_path)
    page = study.report.read_text(encoding="utf-8")
    shown = dict(re.findall(r"<dt>[^<]*\.probes\.(\w+)</dt><dd>([^<]*)</dd>", page))
    assert shown["path"] == "packed"
    assert float(shown["sharing_error"]) == pytest.approx(1.5e-5)
    assert shown["near_ties"] == "1"
