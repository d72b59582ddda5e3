"""The replay gear: a plan as calls and instructions that C++ carries out, with nothing compiled for the graph."""
