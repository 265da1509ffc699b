"""Asking one model on many devices: a driver divides the asks of a run over workers of a Ray cluster."""
