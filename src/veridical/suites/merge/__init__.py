"""Seed problems and their variants (MERGE): how they are asked, and consistency over the variants of a seed."""
