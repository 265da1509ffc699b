"""Drafts have the digests of the items that they become, whatever stands in them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from veridical.digests import canonical, canonical_list, digest
from veridical.items import Member
from veridical.suites.drafted import Draft, Option, _member_digest

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
FACTOR = st.one_of(
    TEXT, st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False)
)


@given(
    st.dictionaries(TEXT.filter(lambda name: name not in ("labels", "glosses")), TEXT, max_size=3),
    st.lists(st.tuples(TEXT.filter(bool), st.none() | TEXT), min_size=2, max_size=4),
    st.dictionaries(TEXT, FACTOR, max_size=3),
    st.booleans(),
    TEXT,
)
def test_a_draft_has_the_digests_of_its_item(
    fields: dict[str, str],
    choices: list[tuple[str, str | None]],
    factors: dict[str, str | float],
    described: bool,
    name: str,
) -> None:
    options = tuple(Option("ABCD"[place], text, context) for place, (text, context) in enumerate(choices))
    golds = {"other": ("B", "A")} if described else {}
    human = {"A": 0.25, "B": 0.75} if described else {}
    draft = Draft.of(fields=fields, choices=options, gold=("B",), golds=golds, human=human, factors=factors, name=name)
    item = draft.item()
    assert draft.id == item.id
    assert draft.content == digest(item.model_dump(mode="json"), 32)
    assert draft.with_factors({}).content == digest({**item.model_dump(mode="json"), "factors": {}}, 32)


@given(TEXT, TEXT, TEXT, TEXT)
def test_a_member_has_the_digest_of_its_object(name: str, item: str, role: str, cluster: str) -> None:
    member = {"set": name, "item": item, "role": role, "cluster": cluster}
    assert set(member) == set(Member.model_fields)
    assert _member_digest(name, item, role, cluster) == digest(member, 32)


@given(st.lists(TEXT))
def test_a_list_of_texts_is_written_as_any_list(texts: list[str]) -> None:
    assert canonical_list(texts) == canonical(texts)
