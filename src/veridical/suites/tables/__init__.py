"""Suites made from a table of items: CSV, TSV, JSONL, Parquet, a folder saved by the library datasets."""
