"""Benchmarks: every figure a ratio, both sides measured in turn in one run."""
