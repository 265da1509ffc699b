"""Several runs: asking models, judging runs together, recipes, readouts, tables of scores."""
