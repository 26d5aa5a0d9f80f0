"""The sections below the bias queries' charts."""
