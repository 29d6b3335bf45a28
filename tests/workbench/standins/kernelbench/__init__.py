"""A stand-in for the package kernelbench, with the function that an adapter calls."""
