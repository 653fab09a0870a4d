"""The commands that show what is on the bus and keep it running, and what they print with.

Thin: each parses its options, calls, prints. `options` are those that commands share; `named`
loads a command when it is named.
"""
