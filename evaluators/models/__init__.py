"""Models that run on this machine: which device they run on, and loading them when they are first used."""
