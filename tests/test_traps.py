"""The register of known bugs is in order. Whether each test catches its bug is seen by `make test-traps`."""

from __future__ import annotations

from dataclasses import replace

from .traps import N_TRAPS, exists, faults, read_register


def test_the_register_is_in_order() -> None:
    assert list(faults(read_register())) == []


def test_faults_of_the_register_are_found() -> None:
    first, *others = read_register()
    assert len(others) == N_TRAPS - 1
    for spoilt, message in [
        ([*others], "missing: [1]"),
        ([first, first, *others], "each once"),
        ([replace(first, find="no such line"), *others], "stands 0 times"),
        ([replace(first, find="self"), *others], "times in"),
        ([replace(first, file="src/none.py"), *others], "stands 0 times"),
        ([replace(first, replace=first.find), *others], "changes nothing"),
        ([replace(first, test=()), *others], "has no test"),
        ([replace(first, test=("tests/test_traps.py::test_none",)), *others], "there is no test"),
        ([replace(first, later="the day after"), *others], "comes later"),
    ]:
        assert any(message in fault for fault in faults(spoilt))


def test_node_ids_are_looked_up_in_files_and_classes() -> None:
    assert exists("tests/test_traps.py::test_the_register_is_in_order")
    assert not exists("tests/test_traps.py")
    assert not exists("tests/none.py::test_the_register_is_in_order")
    assert exists("tests/models/test_hf.py::TestSmolLM2::test_it_shares_prefixes")
    assert not exists("tests/models/test_hf.py::test_it_shares_prefixes")
