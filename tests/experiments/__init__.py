"""Experiments of the papers, repeated."""
