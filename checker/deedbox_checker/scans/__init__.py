"""A scan as it is explored: smaller pages, and the list that they are pages of."""
