"""What we believe about rows to come: frequencies of keys, ages of matches, rates."""
