"""`make bench`: ratios, measured side by side in one run, beside the budgets of the design.

Absolute times mean little on a shared machine; a ratio of two things that were measured in turns,
on one core, means something. Nothing here asserts a time.
"""

from reusewatch.streams import kernels
from reusewatch.streams.console import say

# Before any of them is imported, or numba keeps machine code beside the sources.
kernels.prepare(say)
