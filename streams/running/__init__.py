"""What runs stages: the worker's loop, and everything around it.

`worker` polls, processes, sends; `commit` is the order in which that becomes safe, `recovery` how
a restart comes back to it. `topology` says who reads what, `sinks` where sources put pages, onto
a bus (`bus_sink`) or straight into the stages (`local_sink`); `parallel` how fingerprinting uses
several processes; `metrics`, which `recording` counts and `serving` serves; `asking` a running
worker.
"""
