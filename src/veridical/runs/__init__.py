"""One run on disk: what is asked, asking it, storing and loading the answers."""
