"""From a plan to a table that C++ walks through: the replay gear, which compiles nothing."""
