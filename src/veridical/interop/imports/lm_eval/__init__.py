"""Logs of lm-evaluation-harness, 0.3 to 0.4.13."""
