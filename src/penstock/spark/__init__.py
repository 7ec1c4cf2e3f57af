"""The engine as an operator on DataFrames of Spark."""
