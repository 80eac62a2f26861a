"""The stores: each is a table from operation to what it does, and decides nothing."""
