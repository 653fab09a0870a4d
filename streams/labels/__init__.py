"""The labeled dataset on its way: from a command, over the bus, to every fingerprint process.

Its parts: `table` what the topic says, `parts` packs as messages, `store` the directory of a
machine, `follower` the topic into that directory, `changes` what commands change, `marking` pages
matched with what is in force.
"""
