"""lm-evaluation-harness's own tasks on our engine."""
