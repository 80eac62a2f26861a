"""What must happen in the end on a graph of numbered states. Knows nothing of machines."""
