"""Programs for those who develop Veridical; not part of the package that is installed."""
