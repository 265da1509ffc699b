"""A suite limited to some of its sets."""

from __future__ import annotations

from veridical.digests import canonical_list, text_digest
from veridical.errors import UserError
from veridical.items import Grouping, Places, Suite


def take_sets(grouping: Grouping, limit: int, seed: int) -> list[str]:
    """The first `limit` sets in a seeded order that does not depend on the file's.

    Sets are ordered by a hash of their items' content, and taken in turn from each shape (the roles in a
    set), so that telic and atelic sets alternate. A smaller limit's sets are a part of a larger one's.
    """
    columns = zip(*((member.set, member.item, member.role, member.cluster) for member in grouping.members), strict=True)
    return _taken(Places(*columns), limit, seed) if grouping.members else []


def _taken(places: Places, limit: int, seed: int) -> list[str]:
    members: dict[str, list[tuple[str, str]]] = {}
    for name, item, role in zip(places.sets, places.items, places.roles, strict=True):
        members.setdefault(name, []).append((item, role))
    shapes: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for name, found in members.items():
        roles = tuple(sorted(role for _, role in found))
        rank = text_digest(f"[{seed},{canonical_list(sorted(item for item, _ in found))}]")
        shapes.setdefault(roles, []).append((rank, name))
    columns = [sorted(shapes[roles]) for roles in sorted(shapes)]
    longest = max((len(column) for column in columns), default=0)
    turns = [column[turn][1] for turn in range(longest) for column in columns if turn < len(column)]
    return turns[:limit]


def limited(suite: Suite, limit: int | None, seed: int) -> Suite:
    """The suite narrowed to `limit` sets of its first grouping, every member kept.

    An item that is in no set is a set of its own.
    """
    if limit is None:
        return suite
    if limit < 1:
        raise UserError(f"--limit {limit}: give a number of item sets, 1 or more")
    places = _with_lone_items(suite)
    taken = set(_taken(places, limit, seed))
    return suite.narrowed({item for name, item in zip(places.sets, places.items, strict=True) if name in taken})


def _with_lone_items(suite: Suite) -> Places:
    places = suite.places
    held = set(places.items)
    alone = [item for item in suite.by_id if item not in held]
    if not alone:
        return places
    # Named apart from the sets, whatever those are called.
    sets = [*(f"set {name}" for name in places.sets), *(f"item {item}" for item in alone)]
    blank = [""] * len(alone)
    return Places(sets, [*places.items, *alone], [*places.roles, *blank], [*places.clusters, *blank])
