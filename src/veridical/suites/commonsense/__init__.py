"""Benchmarks of other people's, read from the user's copy: commonsense, its reworked versions, controls, downstream."""
