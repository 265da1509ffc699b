"""A module a benchmark (with its reworked version), each with its definitions in `TASKS`."""
