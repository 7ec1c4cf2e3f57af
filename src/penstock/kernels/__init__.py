"""How a window join finds its matches: slots, key index, time order, eviction order."""
