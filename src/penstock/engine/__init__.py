"""One shard's join: what it holds, what it gives up, what it found."""
