"""Data: what ships, what is simulated, what is read from files."""
