"""The frontier: the queue of waiting links, ordered by promise and paced by host."""
