"""MERE: minimal variants of problems that keep their label, made with language models that propose words."""
