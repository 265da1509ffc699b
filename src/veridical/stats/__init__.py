"""Intervals, tests and resampling. Functions over arrays: nothing here knows a suite, a model or a file."""
