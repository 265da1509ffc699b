"""The forward pass for local weights: every distinct prefix runs once, and nothing depends on the batching."""
