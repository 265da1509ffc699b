"""Checks of the texts of the built-in suites: what each promises, and what its surface gives away."""
