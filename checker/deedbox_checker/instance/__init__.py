"""One instance: what of it is stored and owed, and the form in which it is explored."""
