"""The suites `evidence` and `evidence-development`: what they promise, and that a broken promise is found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tools.suites import evidence as checker
from veridical.errors import UserError
from veridical.items import Suite, shown_fields
from veridical.prompts.template import Conversation
from veridical.runs.plan import AskOptions, plan, query
from veridical.suites.evidence.prompts import GLOSSES, LABELS, PROMPTS
from veridical.suites.evidence.surface import RULES, content, rule_accuracy
from veridical.suites.evidence.text import DIFFERENCES, KINDS, CategoryText, EvidencePair, read_category, read_text
from veridical.suites.registry import load


@pytest.fixture(scope="module")
def text() -> tuple[CategoryText, ...]:
    return read_text()


@pytest.fixture(scope="module")
def primary() -> Suite:
    return load("evidence")


@pytest.fixture(scope="module")
def development() -> Suite:
    return load("evidence-development")


@pytest.mark.parametrize("check", checker.CHECKS, ids=lambda check: check.__name__)
def test_the_text_keeps_its_promises(check: Callable[..., object], text: Sequence[CategoryText]) -> None:
    assert list(check(text)) == []  # type: ignore[call-overload]


def test_counts(primary: Suite, development: Suite) -> None:
    """54 pairs are 108 endpoints, 27 of either kind; 18 scenarios of 8 are 144, 36 of each label."""
    assert len(primary.items) == 108
    assert Counter(item.gold[0] for item in primary.items) == {"Favors": 27, "Challenges": 27, "Wrong Target": 54}
    assert Counter(item.factors["category"] for item in primary.items) == dict.fromkeys(
        [
            "pre_trends", "exclusion", "relevance", "discontinuity", "balance",
            "overlap", "negative_controls", "mediation", "attrition",
        ],
        12,
    )  # fmt: skip
    assert Counter(item.gold[0] for item in development.items) == dict.fromkeys(LABELS, 36)
    assert len(development.grouping("scenario").sets()) == 18


def test_the_kinds_of_difference_are_28_in_twelve_dimensions() -> None:
    assert (len(DIFFERENCES), len(KINDS), len(set(KINDS))) == (12, 28, 28)


def test_no_background_of_a_pair_is_fitted_on(primary: Suite, development: Suite) -> None:
    judged, fitted = ({item.fields["background"] for item in suite.items} for suite in (primary, development))
    assert not judged & fitted


def test_evidence_is_repeated_across_targets_in_every_scenario(development: Suite) -> None:
    shared = development.grouping("evidence").sets().values()
    twice = [members for members in shared if len(members) > 1]
    assert Counter(members[0].cluster for members in twice) == dict.fromkeys(development.grouping("scenario").sets(), 2)
    for members in twice:
        assert len({development.by_id[member.item].fields["evidence"] for member in members}) == 1
        assert "Wrong Target" in {member.role for member in members}


def test_label_orders_are_counterbalanced_over_pairs(primary: Suite) -> None:
    """Each of the four rotations comes first in 13 or 14 of the 54 pairs, and is the same for both endpoints."""
    first = {
        name: {primary.by_id[member.item].labels[0] for member in members}
        for name, members in primary.grouping("pair").sets().items()
    }
    assert all(len(labels) == 1 for labels in first.values())
    counts = Counter(label for labels in first.values() for label in labels)
    assert set(counts) == set(LABELS)
    assert max(counts.values()) - min(counts.values()) <= 3


def test_the_reasoning_is_never_shown(primary: Suite, development: Suite) -> None:
    for suite in (primary, development):
        options = AskOptions(modes=("generate", "loglikelihood"), orders=1)
        for ask in plan(suite, options).asks:
            reasoning = str(suite.by_id[ask.item].factors["reasoning"])
            context = query(suite, ask).contexts[0]
            assert isinstance(context, Conversation)
            assert all(reasoning not in message.content for message in context.messages)


def test_restricted_inputs_withhold_what_they_say(primary: Suite) -> None:
    item = primary.items[0]
    assert set(shown_fields(primary, item, "no_evidence")) == {"background", "target", "condition"}
    assert dict(shown_fields(primary, item, "evidence_only")) == {"evidence": item.fields["evidence"]}
    shown = PROMPTS[0].render(shown_fields(primary, item, "evidence_only"), LABELS)
    assert isinstance(shown, Conversation)
    assert shown.messages[-1].content.count("(none given)") == 3


def test_both_endpoints_of_a_pair_begin_alike_up_to_the_target(primary: Suite) -> None:
    """What a pair shares stands first, so that it runs once; a detail of one endpoint may end the background."""
    for members in primary.grouping("pair").sets().values():
        fields = [primary.by_id[member.item].fields for member in members]
        if fields[0]["background"] != fields[1]["background"]:
            continue
        users = []
        for one in fields:
            context = PROMPTS[0].render(dict(one), LABELS)
            assert isinstance(context, Conversation)
            users.append(context.messages[-1].content)
        assert users[0].split("Target claim:")[0] == users[1].split("Target claim:")[0]


@pytest.mark.parametrize("prompt", PROMPTS, ids=lambda prompt: prompt.name)
def test_prompts_define_every_label_in_the_order_asked(prompt: object) -> None:
    order = ("Unresolved", "Wrong Target", "Favors", "Challenges")
    context = prompt.render({"background": "b", "evidence": "e", "target": "t", "condition": "c"}, order)  # type: ignore[attr-defined]
    system = context.messages[0].content
    places = [system.index(f"{label}: {GLOSSES[label]}") for label in order]
    assert places == sorted(places)
    assert system.endswith("Unresolved, Wrong Target, Favors or Challenges.")


class TestSurface:
    PAIR = EvidencePair.model_validate(
        {
            "id": "p",
            "kind": "Favors",
            "field": "f",
            "differs": "population: place",
            "background": "b",
            "evidence": "Schools in the north gained two marks.",
            "addressed": {"target": "Northern schools gained.", "condition": "Marks.", "reasoning": "r"},
            "wrong_target": {
                "target": "Southern pupils did gain a good deal.",
                "condition": "Grades.",
                "reasoning": "r",
            },
        }
    )

    def test_rules_by_hand(self) -> None:
        """Addressed: 4 words, sharing school, gain and mark; the other: 8 words, sharing gain."""
        shares = {name: rule_accuracy([self.PAIR], rule) for name, rule in RULES.items()}
        assert list(shares.values()) == [0.0, 1.0, 1.0]

    def test_inflected_words_meet(self) -> None:
        assert content("Schools gained; the school gaining.") == {"school", "gain"}

    def test_a_tie_counts_one_half(self) -> None:
        assert rule_accuracy([self.PAIR], lambda pair, endpoint: 1.0) == 0.5


def broken(text: Sequence[CategoryText], **changes: object) -> list[CategoryText]:
    """The text with the first pair changed."""
    first = text[0].pair[0].model_copy(update=changes)
    return [text[0].model_copy(update={"pair": (first, *text[0].pair[1:])}), *text[1:]]


def test_broken_promises_are_found(text: Sequence[CategoryText]) -> None:
    pair = text[0].pair[0]
    label = broken(text, evidence="This favours the claim.")
    assert "'favours'" in next(iter(checker.no_text_holds_a_label(label)))
    kind = broken(text, kind="Challenges" if pair.kind == "Favors" else "Favors")
    assert any(checker.six_pairs_a_category(kind))
    twin = broken(text, background=text[1].pair[0].background)
    assert any(checker.backgrounds_are_distinct(twin))
    same = broken(text, wrong_target=pair.wrong_target.model_copy(update={"condition": pair.addressed.condition}))
    assert any("one condition" in finding for finding in checker.evidence_is_verbatim(same))
    fewer = [text[0].model_copy(update={"scenario": text[0].scenario[:1]}), *text[1:]]
    assert any(checker.all_labels_in_every_scenario(fewer))


def test_the_text_alone_recovers_no_more_pairs_than_its_null(text: Sequence[CategoryText]) -> None:
    found = checker.text_readout(text, "text_words", draws=99)
    assert found.inside, found


def test_a_malformed_file_is_reported_with_its_field(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text('category = "pre_trends"\npair = []\nscenario = [{id = "s"}]\n')
    with pytest.raises(UserError, match=r"x\.toml: scenario\.0\.field: it is missing"):
        read_category(path)
    path.write_text("category = ")
    with pytest.raises(UserError, match="not valid TOML"):
        read_category(path)
