"""Plans as plain data: their shape, their order, how they go on, what a person may change. Pure, without a model."""
