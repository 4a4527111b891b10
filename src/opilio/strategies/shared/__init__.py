"""Parts that are shared by several strategies, or split off from a long one."""
