"""Tests of runs: planning, storing, resuming."""
