"""What a person reads: tables for the terminal, figures, and one self-contained page."""

from veridical.report.html import page, write_report
from veridical.report.terminal import render

__all__ = ["page", "render", "write_report"]
