"""Veridical: does a language model's score mean what it claims?"""
