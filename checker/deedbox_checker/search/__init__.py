"""One machine searched, and the cheapest run to what was found."""
