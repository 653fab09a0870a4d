"""Records on their way: bus, stages, workers, snapshots, metrics and the command line."""
