"""Other harnesses' logs, read and stored as runs."""
