"""What has to hold: what a spec states, and what holds of every machine unasked."""
