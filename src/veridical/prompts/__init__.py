"""How an item is asked: prompts as data, chat rendering, answer parsing."""
