"""FairLeak's computations: what a model trained to be fair gives away about the people it was trained on.

Arrays in, frozen results out. Nothing in this package imports Streamlit, prints, or reads a path it was not given.
"""

__all__ = ["__version__"]

__version__ = "0.1.0"
