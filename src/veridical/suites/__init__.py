"""What is asked: the built-in suites, suite files, and published data read as suites."""
