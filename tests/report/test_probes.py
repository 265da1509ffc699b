"""What the probes found, in words that do not claim more than they found."""

from __future__ import annotations

from dataclasses import replace

from veridical.cli.doctor_tables import dtype_finding, findings
from veridical.engine.probes import Probes
from veridical.judge.measure import Measure
from veridical.studies.dtypes import DtypeAgreement

SOUND = Probes("packed", "", 1.5e-5, 0.0, 2e-5, True, 4, 4, 0, 47, 126)


def message(probes: Probes) -> dict[str, tuple[str, str]]:
    return {finding.probe: (finding.found, finding.meaning) for finding in findings(probes)}


def test_a_sound_model_is_called_exact() -> None:
    found = message(SOUND)
    assert found["shared prefixes"][0] == "move a log-likelihood by 1.5e-05 nats at most"
    assert found["alone or in a padded batch"][0] == "moves a log-likelihood by nothing"
    exact = ("shared prefixes", "alone or in a padded batch", "small or large batches")
    assert all(found[name][1].startswith("exact") for name in exact)
    assert found["greedy text, twice"] == ("the same", "generating can be repeated")
    assert found["near ties"] == ("0 of 47 next tokens", "none in this sample")


def test_scores_that_move_are_not_called_exact() -> None:
    found = message(replace(SOUND, sharing_error=0.28, packed_batch_error=0.1))
    assert found["shared prefixes"][1] == "choices that are closer than this may go either way"
    assert found["small or large batches"][1] == "choices that are closer than this may go either way"


def test_logits_that_are_not_numbers_are_reported_first() -> None:
    first = findings(replace(SOUND, non_finite=40))[0]
    assert (first.probe, first.found) == ("logits", "not numbers for 40 of 47 next tokens")
    assert "trust neither" in first.meaning
    assert "logits" not in message(SOUND)


def test_texts_that_differ_are_reported() -> None:
    found = message(replace(SOUND, greedy_repeats=False, greedy_batch_invariant=3))
    assert found["greedy text, twice"][0] == "not the same"
    assert found["greedy text, alone or together"] == (
        "the same for 3 of 4 prompts",
        "a text depends on what is generated in the same batch",
    )


def test_the_plain_path_says_why() -> None:
    reason = "a sliding window of 8 tokens"
    found = message(replace(SOUND, path="plain", reason=reason, sharing_error=None, packed_batch_error=None))
    assert found["shared prefixes"][0] == f"not shared: {reason}"
    assert "small or large batches" not in found


def test_scores_that_are_not_numbers_are_not_trusted() -> None:
    found = message(replace(SOUND, plain_batch_error=None))
    assert found["alone or in a padded batch"][1] == "do not trust its scores"


def test_agreement_with_float32_gives_rate_interval_bounds_and_near_ties() -> None:
    measure = Measure(
        suite="s", model="bfloat16", prompt="p", mode="loglikelihood", measure="agreement",
        value=0.9, low=0.8, high=0.95, level=0.95, interval="bootstrap over sets", bound_low=0.9, bound_high=1.0,
        n_sets=30, n_items=75, against={"model": "float32"}, paired=True,
    )  # fmt: skip
    found = dtype_finding("bfloat16", DtypeAgreement(measure, (10, 1)))
    assert found.found == ".90 [.80, .95] ⟨.90, 1.00⟩ of 75 items in 30 sets"
    assert found.meaning == "95% interval (bootstrap over sets); near ties: 10 in bfloat16, 1 in float32"
