"""What a benchmark's score predicts, over a table of models and scores."""
