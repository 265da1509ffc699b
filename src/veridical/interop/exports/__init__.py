"""Suites in the forms that others read."""
