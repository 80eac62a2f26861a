"""A question about a machine: asked once, remembered, and told to pytest item by item."""
