"""Same evidence, different targets: one diagnostic result under two causal questions."""
