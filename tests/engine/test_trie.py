"""The trie holds every distinct prefix once, and every sequence whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veridical.engine.families import WORTH_SHARING_PROMPTS, WORTH_SHARING_TOKENS, families
from veridical.engine.plan import Extend, Retreat, RunSubtrees, steps
from veridical.engine.trie import Trie, common_prefix

# Three symbols and short sequences, so that prefixes coincide in every way.
sequences = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=8).map(tuple), min_size=1, max_size=12)


def spelled(trie: Trie, segment: int) -> tuple[int, ...]:
    tokens: tuple[int, ...] = ()
    while segment >= 0:
        tokens = (*trie.segments[segment].tokens, *tokens)
        segment = trie.segments[segment].parent
    return tokens


@given(sequences)
def test_the_trie_spells_every_sequence_and_holds_each_prefix_once(given_: list[tuple[int, ...]]) -> None:
    trie = Trie(given_)
    assert [spelled(trie, end) for end in trie.ends] == given_
    prefixes = {sequence[:length] for sequence in given_ for length in range(1, len(sequence) + 1)}
    assert trie.n_tokens == len(prefixes)
    assert sum(trie.segments[root].size for root in trie.roots) == len(prefixes)
    assert sorted(trie.walk()) == list(range(len(trie.segments)))


@given(sequences)
def test_a_position_is_the_token_that_stands_there(given_: list[tuple[int, ...]]) -> None:
    trie = Trie(given_)
    for sequence, end in zip(given_, trie.ends, strict=True):
        for depth, token in enumerate(sequence):
            segment, offset = trie.position(end, depth)
            assert trie.segments[segment].tokens[offset] == token


def test_two_branches_share_their_stem() -> None:
    trie = Trie([(1, 2, 3, 4), (1, 2, 5), (1, 2)])
    assert trie.n_tokens == 5
    assert trie.ends[2] == trie.roots[0]
    assert sorted(tuple(trie.segments[child].tokens) for child in trie.segments[trie.roots[0]].children) == [
        (3, 4),
        (5,),
    ]


def test_an_empty_sequence_is_refused() -> None:
    with pytest.raises(ValueError, match="without tokens"):
        Trie([(1,), ()])


def test_common_prefix() -> None:
    assert [common_prefix(*pair) for pair in [((), (1,)), ((1, 2), (1, 2, 3)), ((1, 2, 3), (1, 9, 3))]] == [0, 2, 1]


@given(sequences, st.integers(1, 9), st.integers(1, 4))
def test_a_plan_runs_every_token_once_within_its_bounds_and_below_its_own_prefix(
    given_: list[tuple[int, ...]], batch_tokens: int, max_rows: int
) -> None:
    trie = Trie(given_)
    rows = dict.fromkeys(trie.ends, 1)
    run: list[int] = []
    path: list[Extend] = []
    for step in steps(trie, batch_tokens, rows, max_rows):
        match step:
            case Extend(segment, offset, length):
                assert 0 < length <= batch_tokens
                assert offset == sum(piece.length for piece in path if piece.segment == segment)
                path.append(step)
                run += [segment] * length
            case Retreat(pieces):
                del path[-pieces:]
            case RunSubtrees(tops):
                assert sum(trie.segments[top].size for top in tops) <= batch_tokens
                assert sum(rows.get(index, 0) for top in tops for index in trie.walk(top)) <= max(max_rows, 1)
                prefix = tuple(
                    token
                    for piece in path
                    for token in trie.segments[piece.segment].tokens[piece.offset : piece.offset + piece.length]
                )
                for top in tops:
                    assert spelled(trie, top)[: trie.segments[top].start] == prefix
                    run += [index for index in trie.walk(top) for _ in trie.segments[index].tokens]
    assert sorted(run) == sorted(index for index in trie.walk() for _ in trie.segments[index].tokens)
    assert not path


@given(st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=40).map(tuple), min_size=1, max_size=12))
def test_families_hold_every_prompt_once_and_what_they_share(prompts: list[tuple[int, ...]]) -> None:
    found = families(prompts)
    assert sorted(index for family in found for index in family.prompts) == list(range(len(prompts)))
    for family in found:
        first = prompts[family.prompts[0]][: family.n_shared]
        assert all(prompts[index][: family.n_shared] == first for index in family.prompts)
        assert all(len(prompts[index]) > family.n_shared for index in family.prompts)


def test_a_long_shared_beginning_makes_a_family() -> None:
    stem = tuple(range(100, 100 + WORTH_SHARING_TOKENS))
    prompts = [(*stem, index) for index in range(WORTH_SHARING_PROMPTS)]
    assert [(f.n_shared, f.prompts) for f in families(prompts)] == [(len(stem), tuple(range(len(prompts))))]
    # Fewer are worth it where nothing else is waiting, and not beside others.
    assert [f.n_shared for f in families(prompts[:-1])] == [len(stem)]
    assert [f.n_shared for f in families([*prompts[:-1], (1, 2)])] == [0]
