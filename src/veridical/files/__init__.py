"""The files of a user, by format: read strictly, and never retyped."""
