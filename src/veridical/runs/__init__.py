"""A run: what is asked of one model, asked, stored and resumed."""
