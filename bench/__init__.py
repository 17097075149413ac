"""Benchmarks: one module each, run as `python -m bench.<name>`; results carry command, machine and date."""
