"""How time grows with the number of items: BLiMP sentences scored whole, 100 to 10,000 of them.

    python benchmarks/growth.py

Writes results/growth.json and a chart, results/growth.vl.json (distinct tokens against seconds); prints seconds per
distinct token of the largest over the smallest last: 1 means linear growth.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

os.environ.pop("OPENBLAS_CORETYPE", None)

from harness import RESULTS, report

from veridical.models import load
from veridical.models.protocol import Query
from veridical.prompts.template import PlainText

BLIMP = Path(__file__).parents[2] / "shared" / "data" / "blimp" / "blimp_first100_per_paradigm.jsonl"
SIZES = (100, 300, 1_000, 3_000, 10_000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=SIZES[-1])
    given = parser.parse_args()
    model = load("smollm2", device="cpu")
    pairs = [json.loads(line) for line in BLIMP.read_text(encoding="utf-8").splitlines()]
    sentences = [pair[key] for pair in pairs for key in ("sentence_good", "sentence_bad")]
    rows = []
    for size in (n for n in SIZES if n <= given.most):
        began = time.perf_counter()
        requests = [model.prepare(Query((PlainText(""),), (sentence,))) for sentence in sentences[:size]]
        before = model.engine.n_tokens_run
        answered = sum(1 for _ in model.answer(requests))
        seconds = time.perf_counter() - began
        tokens = model.engine.n_tokens_run - before
        total = sum(len(s.context) + len(s.continuation) for request in requests for s in request.sequences)
        rows.append({"items": answered, "tokens": total, "distinct_tokens": tokens, "seconds": seconds})
        print(rows[-1])
    _plot(rows)
    per_token = [row["seconds"] / row["distinct_tokens"] for row in rows]
    report("growth", {"rows": rows}, per_token[-1] / per_token[0], "seconds per distinct token, largest over smallest")


def _plot(rows: list[dict[str, float]]) -> None:
    """A chart as Vega-Lite (results/growth.vl.json): distinct tokens against seconds, both on a log axis."""
    import altair as alt

    chart = (
        alt.Chart(alt.Data(values=rows))
        .mark_line(point=True)
        .encode(
            x=alt.X("distinct_tokens:Q", scale=alt.Scale(type="log"), title="distinct tokens"),
            y=alt.Y("seconds:Q", scale=alt.Scale(type="log"), title="seconds, tokenising included"),
            tooltip=["items:Q", "tokens:Q", "distinct_tokens:Q", "seconds:Q"],
        )
        .properties(width=480, height=320, title="Time grows with distinct tokens, not with items")
    )
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "growth.vl.json").write_text(chart.to_json(), encoding="utf-8")


if __name__ == "__main__":
    main()
