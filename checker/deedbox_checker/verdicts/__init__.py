"""From a machine to a report: everything that is asked of it, judged."""
