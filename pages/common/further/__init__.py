"""What the Correction page offers below its slider, one section a module: each is drawn only when it is chosen."""
